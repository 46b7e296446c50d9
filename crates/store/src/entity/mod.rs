//! Entities, their versions, and imports of many at once.

pub mod import;
mod read;
mod title;
mod write;

pub use import::ImportRecord;
pub use read::{EntityRecord, EntityVersionRecord, Filter, find, find_locked, last_looked, list, versions};
pub use title::{taken_titles, titles, values};
pub use write::{insert, update};

use crate::engine::Texts;

pub(crate) const SQL: [Texts; 3] = [import::SQL, read::SQL, write::SQL];
pub(crate) const SQLITE_SQL: [Texts; 2] = [title::SQLITE_SQL, write::SQLITE_SQL];
pub(crate) const POSTGRES_SQL: [Texts; 4] =
    [import::POSTGRES_SQL, read::POSTGRES_SQL, title::POSTGRES_SQL, write::POSTGRES_SQL];
