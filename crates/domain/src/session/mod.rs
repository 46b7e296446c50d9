//! Sessions: one execution each, with a status machine of ten states.

pub mod graph;
mod status;
mod time_limits;
mod transition;
mod usage;

pub use graph::{IfDependencyFails, WaitsFor};
pub use status::{EndReason, Status, Type};
pub use time_limits::TimeLimits;
pub use transition::{Actor, COMMANDS, Command, Refusal, State, Transition, YieldTo, decide};
pub use usage::Usage;
