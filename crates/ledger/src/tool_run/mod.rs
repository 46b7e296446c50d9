//! Runs of tools: beginning one, waiting for its end, and what a server needs to make the call of one.

mod call;
mod list;
mod run;
mod wait;

pub use call::{ServerRun, run_queued, server_run, waiting_runs};
pub use list::{ListRuns, get, list};
pub use run::{RunTool, run};
pub use wait::wait_for_end;
