//! Opens a store, and runs reads and writes on it.

mod access;
mod postgres;
mod schema;
mod sqlite;
mod store;

pub use store::{Database, Mode, Store};

use crate::engine::Texts;

pub(crate) const SQLITE_SQL: [Texts; 1] = [sqlite::SQLITE_SQL];
pub(crate) const POSTGRES_SQL: [Texts; 2] = [postgres::POSTGRES_SQL, schema::POSTGRES_SQL];
