//! Whether an answer helped, inferred from what the person says next: accepted, rejected or neutral, with evidence.
//!
//! Pure and bounded: nobody is asked, nothing is learned, no model is called. Phrases are data, one table per language
//! (`en.toml`, `de.toml`); what is said in a language without a table is judged by signs that need none: the question
//! asked again in other words, code that comes back with an error, a thumb. Where nothing speaks for either side the
//! outcome is neutral, which is no opinion: it never becomes a label.

mod infer;
mod language;
mod sign;
mod similarity;
mod text;
mod tracker;

pub use infer::{Evidence, Inferred, Outcome, Rule, infer};
pub use language::{Class, InvalidTable, Language, Languages};
pub use tracker::{OutcomeTracker, Turn};
