//! Training telemetry: whether a workspace shares anonymous numbers about the usefulness of memories, and the numbers.
//! Nothing is sent: an operator can export them.

mod opt_in;
mod prompt;
mod share;

pub(crate) use opt_in::state_on;
pub use opt_in::{TelemetryState, answer, answer_by_operator, state, state_by_operator};
pub(crate) use prompt::prompt;
pub use share::{Shared, share_by_operator};
