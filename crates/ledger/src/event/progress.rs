//! Sends how far a worker is with its session. Progress is never stored: the events of the log say what was done.

use super::holder::require_holder;
use crate::{Ledger, Result, guard::Fields};
use domain::{Scope, id::SessionId, limit::PROGRESS_NOTE_CHARS_MAX};
use std::sync::Arc;
use store::ProgressNotice;

pub use crate::live::Progress;

/// Sends progress to the followers of the session, on this server and on others of one database. Of several within
/// 200 ms only the first is sent here, unless it is the last step, and the last one to other servers.
///
/// # Errors
/// [`crate::Error::Invalid`] for more steps done than there are, and for a note that is no line of at most
/// [`PROGRESS_NOTE_CHARS_MAX`] characters; [`crate::Error::NotFound`] if there is no such session or the caller cannot
/// see it; [`crate::Error::Refused`] if the worker does not hold it, as for an append.
pub async fn send_progress(ledger: &Ledger, scope: &Scope, id: SessionId, progress: Progress) -> Result<()> {
    let mut fields = Fields::default();
    if progress.total.is_some_and(|total| progress.done > total) {
        fields.refuse("done", "at most total");
    }
    if let Some(note) = &progress.note {
        fields.line("note", note, PROGRESS_NOTE_CHARS_MAX);
    }
    require_holder(ledger, scope, (id, progress.attempt), fields).await?;
    let Progress { attempt, done, total, note } = progress.clone();
    ledger.hub().publish_progress(scope.tenant_id, id, Arc::new(progress), ledger.now());
    let tenant_id = scope.tenant_id;
    ledger.store().notify_progress(ProgressNotice { tenant_id, session_id: id, attempt, done, total, note });
    Ok(())
}
