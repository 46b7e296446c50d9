//! How useful the memories were that an agent was given: ratings, labels, and the row from which a ranker learns.

mod label;
mod row;

pub use label::{Signals, Weights, label, weight};
pub use row::{Kind, Row};
