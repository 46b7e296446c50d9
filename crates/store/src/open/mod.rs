//! Opens a store, and runs reads and writes on it.

mod access;
mod application_id;
mod growth;
mod postgres;
mod readers;
mod schema;
mod sqlite;
mod store;
mod usage;

pub use readers::SQLITE_FILE;
pub use store::{Database, Mode, Store};
pub use usage::DatabaseUse;

use crate::engine::Texts;

pub(crate) const SQLITE_SQL: [Texts; 2] = [sqlite::SQLITE_SQL, application_id::SQLITE_SQL];
pub(crate) const POSTGRES_SQL: [Texts; 3] = [postgres::POSTGRES_SQL, growth::POSTGRES_SQL, schema::POSTGRES_SQL];
