//! Sends how far a worker is with its session. Progress is never stored: the events of the log say what was done.

use crate::{
    Ledger, Result,
    commit::state,
    guard::{Fields, require},
    session,
};
use domain::{
    Scope,
    id::SessionId,
    limit::PROGRESS_NOTE_CHARS_MAX,
    role::Permission,
    session::{Actor, Command, decide},
};
use std::sync::Arc;

pub use crate::live::Progress;

/// Sends progress to the followers of the session on this server. Other servers do not receive it. Of several within
/// 200 ms only the first is sent, unless it is the last step.
///
/// # Errors
/// [`crate::Error::Invalid`] for more steps done than there are, and for a note that is no line of at most
/// [`PROGRESS_NOTE_CHARS_MAX`] characters; [`crate::Error::NotFound`] if there is no such session or the caller cannot
/// see it; [`crate::Error::Refused`] if the worker does not hold it, as for an append.
pub async fn send_progress(ledger: &Ledger, scope: &Scope, id: SessionId, progress: Progress) -> Result<()> {
    require(scope, Permission::Work)?;
    let mut fields = Fields::default();
    if progress.total.is_some_and(|total| progress.done > total) {
        fields.refuse("done", "at most total");
    }
    if let Some(note) = &progress.note {
        fields.line("note", note, PROGRESS_NOTE_CHARS_MAX);
    }
    fields.check()?;
    let session = session::get(ledger, scope, id).await?;
    decide(state(&session), Actor::Worker { attempt: progress.attempt }, Command::Append)?;
    ledger.hub().publish_progress(scope.tenant_id, id, Arc::new(progress), ledger.now());
    Ok(())
}
