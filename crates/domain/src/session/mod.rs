//! Sessions: one execution each, with a status machine of ten statuses.

mod bulk;
mod command;
mod execution;
pub mod graph;
mod sort;
mod state;
mod status;
pub mod tag;
mod time_limits;
mod transition;
mod usage;

pub use bulk::BulkVerb;
pub use command::{Actor, COMMANDS, Command, YieldTo};
pub use execution::{Report, Session, UNTITLED, deadline};
pub use graph::{IfDependencyFails, WaitsFor};
pub use sort::Sort;
pub use state::{End, Ended, Lease, State};
pub use status::{EndReason, Status, Type};
pub use time_limits::TimeLimits;
pub use transition::{Next, Position, Refusal, Transition, decide};
pub use usage::Usage;
