//! The statuses in which a session takes a report of its worker, beyond what the status machine says.

use crate::{Result, commit::is_thread};
use domain::session::{Refusal, Session, Status};

/// Refuses a report on a session that has another status than `if_status`, and on an idle conversation: it continues
/// with the next message of its person, and a worker whose turn was interrupted learns of it by this refusal.
pub(super) fn check_report_status(session: &Session, if_status: Option<Status>) -> Result<()> {
    let status = session.status();
    let differs = if_status.is_some_and(|wanted| wanted != status);
    if differs || (status == Status::Idle && is_thread(session)) {
        return Err(Refusal::WrongStatus { status }.into());
    }
    Ok(())
}
