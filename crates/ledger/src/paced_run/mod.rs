//! Paced runs: sessions that are run again a few at a time, or from a time on.
//!
//! A paced run is stored with its sessions, so it goes on after a restart. The sweep starts a session when fewer of the
//! run's new sessions are queued or running than its pace allows. Each is started with the rights that the caller has
//! at that time, and with a key that follows from the session, so that a step that is repeated starts nothing twice.

mod cancel;
mod create;
mod read;
mod sweep;

pub use cancel::cancel;
pub use create::{NewPacedRun, create};
pub use read::{PacedCounts, PacedRun, PacedRunDetail, PacedSession, get, list};
pub use sweep::sweep;

use crate::Error;
use domain::{Scope, role::Permission};
use store::PacedRunRecord;

/// Whether a caller may see and cancel a paced run: the one who asked for it, and operators and admins.
fn is_shown(scope: &Scope, run: &PacedRunRecord) -> bool {
    run.caller == scope.caller.to_string() || scope.may(Permission::ManageSessions)
}

fn not_found() -> Error {
    Error::NotFound("paced run")
}
