//! What was asked, what was answered and what became of it: three streams of JSON lines that are only ever appended to,
//! and training data made from them.
//!
//! ```text
//! {data}/datalake/01-raw/interactions/interactions_{YYYY-MM-DD}_{id8}.jsonl   one file per day and writer
//! {data}/datalake/01-raw/feedback/{YYYY-MM-DD}_feedback.jsonl                 one file per day, for all writers
//! {data}/datalake/01-raw/outcomes/{YYYY-MM-DD}_outcomes.jsonl                 one file per day, for all writers
//! ```
//!
//! No line is ever rewritten: feedback on a record that is on disk goes beside it, and reading merges the two. Retention is
//! the one exception: it takes lines out of files, and nothing else writes meanwhile ([`erase`]). Times and ids are parameters; who writes when, and for whom, is decided elsewhere.

mod append;
mod collector;
mod erase;
pub mod export;
mod fold;
mod layout;
mod load;
mod record;
mod redact;
mod sort;

pub use append::append;
pub use collector::{Collector, Counts};
pub use erase::{Erased, Fate, SessionKey, erase, sessions};
pub use fold::{Fold, Folded};
pub use layout::Layout;
pub use load::{Lines, Warning, feedback, interactions, outcomes, workspaces};
pub use record::{Feedback, FeedbackRecord, InteractionRecord, Message, OutcomeRecord, Role, Source};
pub use redact::{InvalidRule, Personal, Redactor};
pub use sort::{Pair, Sorted, Sorter};
