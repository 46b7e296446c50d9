//! Entities, their versions, imports of many at once, and their erasure.

mod erase;
pub mod import;
mod read;
mod title;
mod write;

pub use erase::{LeadVersion, due_leads, erase, lead_versions, responses_of_lead};
pub use import::ImportRecord;
pub use read::{
    EntityRecord, EntityVersionRecord, Filter, find, find_locked, last_looked, list, list_by_ids, versions,
};
pub use title::{EntityTitle, EntityValues, taken_titles, titles, values};
pub use write::{insert, update};

use crate::engine::Texts;

pub(crate) const SQL: &[Texts] = &[erase::SQL, import::SQL, read::SQL, title::SQL, write::SQL];
