//! Sessions: one file per command or query.

mod again;
mod cancel;
mod claim;
mod complete;
pub(crate) mod create;
mod expire;
mod fail;
mod follow;
mod get;
pub(crate) mod graph;
mod heartbeat;
mod if_status;
mod list;
mod new_session;
mod related;
mod release;
mod retry;
mod roll;
mod supply_tool_results;
mod sweep;
mod turns;
mod wake;
mod yield_to;

pub use again::{BulkOutcome, BulkResult, BulkSession};
pub(crate) use again::{distinct, not_found, outcome, plan_again_on, ready, reason, run_once, visible_on};
pub use cancel::cancel;
pub(crate) use claim::Remembering;
pub use claim::{Claim, Claimed, ClaimedMessage, claim, claim_until};
pub use complete::{Completion, complete, complete_in};
pub use create::create;
pub use fail::{Failure, fail, fail_in};
pub(crate) use follow::follow_at_once;
pub use get::{get, list_by_ids};
pub(crate) use get::{get_on, list_by_ids_on};
pub use heartbeat::heartbeat;
pub(crate) use list::{ListQuery, list_on, retries_on};
pub use list::{ListSessions, list, retries};
pub use new_session::{DependsOn, NewSession};
pub(crate) use related::related_on;
pub use related::{Related, related};
pub use release::{release, release_all};
pub use retry::retry;
pub use roll::roll;
pub use store::roll::RollPosition;
pub use store::session::graph::{Neighbour, RelatedSession};
pub(crate) use supply_tool_results::open_calls;
pub use supply_tool_results::{OpenCall, SuppliedResult, ToolResult, ToolResults, supply_tool_results};
pub use sweep::{Swept, sweep};
pub use turns::turns;
pub(crate) use turns::turns_on;
pub use wake::wake;
pub use yield_to::{YieldRequest, check_question, yield_to};

/// Largest number of sessions that one read of a sweep returns.
const BATCH: u32 = 200;
