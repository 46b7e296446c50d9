//! The full-text index of events: `search_events`, `search_scopes`, `search_sessions` and `search_state`.
//!
//! Both engines index the words of [`domain::search::EventWords`] and return events newest first, by when they were
//! recorded. SQLite goes by the rowid of `session_events`, which is the order in which its one writer recorded them.
//! PostgreSQL goes by `recorded_at`, then by session and sequence. No result is sorted by how well it matches: that
//! needs all events with a common word.
//!
//! [`candidates`] reads the newest records from their own tables. [`named()`] finds records of any age by the words of
//! their names, which `search_names` has.
//!
//! [`saved`] has the search lines that people saved, which are not part of the index.
//!
//! Each word has the number of its workspace in front, so entries of other workspaces cost a search nothing.
//!
//! The index has no text. FTS5 takes an entry out by its words, which are made again from the event before its content
//! is erased. So the index is emptied when the rule changes by which words are made.

mod entry;
mod expression;
mod find;
mod name;
mod progress;
mod record;
pub mod saved;

pub use entry::{EventEntry, add, clear, close, forget};
pub use find::{Found, FoundEvent, Place, Window, events, find};
pub use name::{EveryName, add_names, is_name_due, make_names_due, named};
pub use progress::{Behind, State, UnindexedEvent, behind_after, behind_of, save_until, state, unindexed};
pub use record::{Candidate, candidates, has_older};

pub use saved::SavedSearchRecord;

use crate::engine::Texts;

pub(crate) const SQL: &[Texts] = &[entry::SQL, find::SQL, name::SQL, progress::SQL, record::SQL, saved::SQL];
