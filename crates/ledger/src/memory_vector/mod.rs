//! Vectors of memories, by which a search finds texts of the same meaning in other words.
//!
//! Without an [`Embedder`] there are none, and nothing here reads or writes. [`Filler`] follows the documents of all
//! agents and makes the vectors of what changed. [`Vectors`] keeps those of an agent in memory and compares them with
//! the [`Meaning`] of a text. What is near by meaning is joined with what is found by words by its rank.

mod agent;
mod embedder;
mod fill;
mod meaning;
mod status;
mod warm;

pub(crate) use agent::Near;
pub use embedder::Embedder;
pub use embedding::{BadModel, Endpoint, EndpointSettings, Model};
pub use fill::{Filler, Step};
pub use meaning::SIMILARITY_MIN_DEFAULT;
pub(crate) use meaning::{Meaning, Vectors};
pub use status::{AgentVectorStatus, status_by_operator};
pub use warm::warm;

/// How often this process could not make vectors, of documents or for a search.
pub fn failures(ledger: &crate::Ledger) -> u64 {
    ledger.vectors().failures()
}
