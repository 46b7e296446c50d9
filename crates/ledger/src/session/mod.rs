//! Sessions: one file per command or query.

pub(crate) mod bound;
mod cancel;
pub(crate) mod change;
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
pub(crate) mod private;
mod related;
mod release;
mod retry;
mod sweep;
mod yield_to;

pub use cancel::cancel;
pub(crate) use cancel::own_or_managed;
pub use claim::{Claim, Claimed, claim};
pub use complete::{Completion, complete};
pub use create::{DependsOn, NewSession, create};
pub use fail::{Failure, fail};
pub(crate) use follow::follow_at_once;
pub use get::{get, list_by_ids};
pub use heartbeat::heartbeat;
pub use list::{ListSessions, list};
pub use related::{Related, related};
pub use release::release;
pub use retry::retry;
pub use store::session::graph::{Neighbour, Told};
pub use sweep::{Swept, sweep};
pub use yield_to::{Parking, yield_to};
