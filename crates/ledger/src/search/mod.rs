//! Full text search over the events of a workspace, and over its tasks, entities, questions and memory.
//!
//! [`events`] answers searches. [`Indexer`] follows the log and fills the index that they read; it runs beside the
//! server's other work, so what was just recorded is found a moment later. Answers say until when events are found.
//!
//! Records other than events are read from their own tables, and are listed before the events.
//!
//! Incognito sessions are never in the index: their events are found by no one, not even by their own person. Content
//! that is erased leaves the index in the transaction that erases it.

mod events;
mod indexer;
mod line;
mod reached;
mod records;
mod saved;

pub use events::{FoundEvent, FoundEvents, FoundSession, SearchEvents, agents, events};
pub use indexer::{Indexer, Step, rebuild_by_operator};
pub use line::SearchLine;
pub(crate) use line::{LineSearch, Selection};
pub use reached::lag;
pub use records::FoundRecord;
pub(crate) use records::records_while_typing;
pub use saved::{NewSavedSearch, delete_saved, rename_saved, save, saved};
pub(crate) use saved::{owner, saved_on};

pub(crate) use reached::Reached;
