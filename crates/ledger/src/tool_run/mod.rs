//! Runs of tools: beginning one, waiting for its end, writing its result to an entity, and what a server needs to make
//! the call of one.

mod call;
mod list;
mod promote;
mod run;
mod wait;

pub use call::{ServerRun, run_queued, server_run, waiting_runs};
pub use list::{ListRuns, get, list};
pub use promote::{PromoteRun, promote};
pub use run::{RunTool, run};
pub use wait::wait_for_end;
