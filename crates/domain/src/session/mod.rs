//! Sessions: one execution each, with a status machine of ten states.

mod status;
mod transition;

pub use status::{EndReason, Status, Type};
pub use transition::{Actor, COMMANDS, Command, Refusal, State, Transition, YieldTo, decide};
