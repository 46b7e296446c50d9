//! Sessions: one file per command or query.

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
mod list;
mod related;
mod release;
mod retry;
mod roll;
mod sweep;
mod turns;
mod yield_to;

pub use cancel::cancel;
pub use claim::{Claim, Claimed, claim};
pub use complete::{Completion, complete};
pub use create::{DependsOn, NewSession, create};
pub use fail::{Failure, fail};
pub(crate) use follow::follow_at_once;
pub use get::{get, list_by_ids};
pub use heartbeat::heartbeat;
pub use list::{ListSessions, list, retries};
pub use related::{Related, related};
pub use release::release;
pub use retry::retry;
pub use roll::roll;
pub use store::session::graph::{Neighbour, Told};
pub use sweep::{Swept, sweep};
pub use turns::turns;
pub use yield_to::{Parking, yield_to};
