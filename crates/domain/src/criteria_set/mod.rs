//! Criteria sets, by which outputs are judged, and the safety gate that evaluates an output's choices.

mod check;
mod dimension;
mod safety_gate;

pub use check::check_dimensions;
pub use dimension::{Choice, ChoiceStyle, Dimension, DimensionKind};
pub use safety_gate::{BlockReason, SafetyGate, evaluate_safety_gate};
