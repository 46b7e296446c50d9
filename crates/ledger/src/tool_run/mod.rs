//! Runs of tools: filling in a draft, beginning one, waiting for its end, and what a server needs to make the call of one.

mod call;
pub mod draft;
mod list;
mod promote;
mod run;
mod wait;

pub use call::{ServerRun, run_queued, server_run, waiting_runs};
pub use list::{ListRuns, get, list};
pub use promote::{PromoteRun, promote};
pub use run::{RunTool, run};
pub use wait::wait_for_end;
