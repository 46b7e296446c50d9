//! Criteria sets: what an output is judged by, and the safety gate that follows from the choices.

mod check;
mod dimension;
mod safety_gate;

pub use check::check_dimensions;
pub use dimension::{Choice, ChoiceStyle, Dimension, DimensionKind};
pub use safety_gate::{BlockReason, SafetyGate, evaluate_safety_gate};
