//! Causes of failures: failures with the same code, tool, step and normalised message, as one row.
//!
//! Whoever may read the workspace sees the same causes. Failures of sessions that only their own person can see have
//! none, so nothing of them is counted or shown.

mod decide;
mod decide_many;
mod get;
mod list;
mod regroup;
mod run_again;
mod run_again_many;
mod sessions;
mod span;
mod visit;

pub use decide::{acknowledge, reopen, resolve, snooze};
pub use decide_many::{CauseDecision, DecidedCauses, decide_many};
pub use get::{Alike, get};
pub(crate) use get::{alike_on, get_on};
pub use list::{Cause, CauseList, ListCauses, list};
pub(crate) use list::{CausesQuery, list_on};
pub use regroup::{progress, regroup};
pub use run_again::{RunAgain, WhichSessions, run_again};
pub use run_again_many::{CauseAgain, CausesAgain, plan_again};
pub(crate) use sessions::sessions_on;
pub use sessions::{CausedSession, sessions};
pub use span::When;
pub use store::failure::{cause::CauseRecord, regroup::Progress};
pub use visit::visit;
