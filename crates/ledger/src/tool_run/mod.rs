//! Runs of tools: filling in a draft, beginning one, waiting for its end, writing its result to an entity, and what a
//! server needs to make the call of one.

mod call;
pub mod draft;
mod list;
mod promote;
mod run;
mod saved;
mod wait;

pub use call::{ServerRun, run_queued, server_run, waiting_runs};
pub use list::{ListRuns, get, list};
pub use promote::{PromoteRun, promote};
pub use run::{RunTool, run, test};
pub(crate) use saved::saved_on;
pub use saved::{SaveInput, delete_input, save_input, saved_inputs};
pub use wait::wait_for_end;
