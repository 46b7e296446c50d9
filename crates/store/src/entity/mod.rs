//! Entities, their versions, imports of many at once, and their erasure.

mod erase;
pub mod import;
mod read;
mod title;
mod write;

pub use erase::{LeadVersion, due_leads, erase, lead_versions, responses_of_lead};
pub use import::ImportRecord;
pub use read::{EntityRecord, EntityVersionRecord, Filter, find, find_locked, last_looked, list, versions};
pub use title::{taken_titles, titles, values};
pub use write::{insert, update};

use crate::engine::Texts;

pub(crate) const SQL: [Texts; 4] = [erase::SQL, import::SQL, read::SQL, write::SQL];
pub(crate) const SQLITE_SQL: [Texts; 2] = [title::SQLITE_SQL, write::SQLITE_SQL];
pub(crate) const POSTGRES_SQL: [Texts; 4] =
    [import::POSTGRES_SQL, read::POSTGRES_SQL, title::POSTGRES_SQL, write::POSTGRES_SQL];
