//! Composite tools: the checks of their steps, the inputs of steps, and what a run does next.

mod check;
mod mapping;
mod plan;
mod private;
mod unfilled;

pub use check::check;
pub use mapping::{Results, result_of, step_input};
pub use plan::{Next, StepState, Tried, next, pause};
pub use private::exposed;
pub use unfilled::{ToolOfStep, unfilled, unfilled_result};
