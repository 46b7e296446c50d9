//! Prompts with answers, feedback on them, and inferred outcomes: three append-only streams of JSON lines, and
//! exports of training data made from them.
//!
//! ```text
//! {data}/datalake/01-raw/interactions/interactions_{YYYY-MM-DD}_{id8}.jsonl   one file per day and writer
//! {data}/datalake/01-raw/feedback/{YYYY-MM-DD}_feedback.jsonl                 one file per day, for all writers
//! {data}/datalake/01-raw/outcomes/{YYYY-MM-DD}_outcomes.jsonl                 one file per day, for all writers
//! ```
//!
//! No line is ever changed. Feedback on a written record is a line of its own, and reading merges the two. The
//! one exception is retention ([`erase`]), which removes lines while no other process writes. Times and ids are
//! parameters; the caller decides who writes, when and for whom.

mod append;
mod collector;
mod erase;
pub mod export;
mod fold;
mod layout;
mod load;
mod record;
mod sort;

pub use ::redact::{InvalidRule, Personal, Redactor};
pub use append::append;
pub use collector::{Collector, Counts};
pub use erase::{Erased, Fate, SessionKey, erase, sessions};
pub use fold::{Fold, Folded};
pub use layout::Layout;
pub use load::{Lines, Warning, feedback, interactions, outcomes, workspaces};
pub use record::{Feedback, FeedbackRecord, InteractionRecord, Message, OutcomeRecord, Role, Source};
pub use sort::{Pair, Sorted, Sorter};
