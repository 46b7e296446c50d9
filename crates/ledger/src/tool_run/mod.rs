//! Runs of tools: filling in a draft, beginning one, waiting for its end, writing its result to an entity, at
//! once or when it completes, and what a server needs to make the call of one.

mod admit;
mod call;
pub mod draft;
mod input;
mod list;
mod output;
mod run;
mod saved;
mod wait;

pub use call::{ServerRun, run_queued, server_run, waiting_runs};
pub use list::{ListRuns, get, list};
pub use output::{output, promote};
pub(crate) use run::run_by_link;
pub use run::{RunTool, run, test};
pub(crate) use saved::saved_on;
pub use saved::{SaveInput, delete_input, save_input, saved_inputs};
pub use wait::wait_for_end;

pub use crate::tool_output::PromoteRun;
