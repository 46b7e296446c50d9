//! Infers from a person's next message whether an answer helped: accepted, rejected or neutral, with evidence.
//!
//! The inference is pure and bounded: it asks no person, learns nothing and calls no model. Phrases are data,
//! one table per language (`en.toml` and others). If the language has no table or is
//! unclear, only evidence without words counts: an emoji, or code that is quoted with an error. Similarity to
//! the request before is recorded as evidence and never decides. Without evidence for either side the outcome
//! is neutral. A neutral outcome never becomes a label.

mod aside;
mod caution;
mod cited;
mod class;
mod denied;
mod foreign;
mod infer;
mod language;
mod languages;
mod naming;
mod objection;
mod pasted;
mod phrase;
mod phrase_match;
mod refusal;
mod relief;
mod restated;
mod similarity;
mod text;
mod tracker;
mod wish;

pub use class::Class;
pub use infer::{CONFIDENT_MIN, Evidence, Inferred, Outcome, Rule, infer};
pub use language::{InvalidTable, Language};
pub use languages::Languages;
pub use tracker::{OutcomeTracker, Turn};
