//! Sessions: one file per command or query.

mod cancel;
pub(crate) mod change;
mod claim;
mod complete;
pub(crate) mod create;
mod expire;
mod fail;
mod get;
mod heartbeat;
mod list;
mod release;
mod retry;
mod sweep;
mod yield_to;

pub use cancel::cancel;
pub(crate) use cancel::own_or_managed;
pub use claim::{Claim, Claimed, claim};
pub use complete::{Completion, complete};
pub use create::{NewSession, create};
pub use fail::{Failure, fail};
pub use get::{get, list_by_ids};
pub use heartbeat::heartbeat;
pub use list::{ListSessions, list};
pub use release::release;
pub use retry::retry;
pub use sweep::{Swept, sweep};
pub use yield_to::{Parking, yield_to};
