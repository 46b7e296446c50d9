//! Opens a store, and runs reads and writes on it.

mod access;
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

pub(crate) const SQL: &[Texts] = &[growth::SQL, postgres::SQL, schema::SQL, sqlite::SQL];
