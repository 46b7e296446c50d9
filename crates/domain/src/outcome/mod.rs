//! Whether an answer helped, inferred from what the person says next: accepted, rejected or neutral, with evidence.
//!
//! Pure and bounded: nobody is asked, nothing is learned, no model is called. Phrases are data, one table per language
//! (`en.toml`, `de.toml`, `es.toml`, `fr.toml`). In a language without a table, and where the language is unclear, only
//! signs without words count: code that comes back with an error, a thumb. That a request resembles the one before is
//! evidence and never decides. Where nothing speaks for either side the outcome is neutral, which is no opinion: it
//! never becomes a label.

mod infer;
mod language;
mod languages;
mod phrase_match;
mod similarity;
mod text;
mod tracker;

pub use infer::{CONFIDENT_MIN, Evidence, Inferred, Outcome, Rule, infer};
pub use language::{Class, InvalidTable, Language};
pub use languages::Languages;
pub use tracker::{OutcomeTracker, Turn};
