//! Sessions: one execution each, with a status machine of ten states.

mod command;
pub mod graph;
mod status;
mod time_limits;
mod transition;
mod usage;

pub use command::{Actor, COMMANDS, Command, YieldTo};
pub use graph::{IfDependencyFails, WaitsFor};
pub use status::{EndReason, Status, Type};
pub use time_limits::TimeLimits;
pub use transition::{Refusal, State, Transition, decide};
pub use usage::Usage;
