//! Opens a store, and runs reads and writes on it.

mod access;
pub(crate) mod application_id;
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

pub(crate) const SQL: &[Texts] = &[application_id::SQL, growth::SQL, postgres::SQL, schema::SQL, sqlite::SQL];
