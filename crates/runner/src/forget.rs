//! Forgetting people and sessions in the database and in the files of training data of this server.

use crate::capture::{TurnCapture, forget_files};
use domain::{Scope, id::SessionId};
use ledger::{
    Ledger, Result,
    interaction::{self, CapturedData},
    memory_forget::{self, Forget, Forgetting},
};
use std::sync::Arc;

/// Forgets a person, see [`memory_forget::forget`], in the files of training data too. If those cannot be rewritten,
/// the answer says so.
///
/// # Errors
/// Those of [`memory_forget::forget`].
pub async fn forget_person(
    ledger: &Ledger,
    turn_capture: &Arc<TurnCapture>,
    scope: &Scope,
    of: Forget,
) -> Result<Forgetting> {
    let mut found = memory_forget::forget(ledger, scope, of).await?;
    if let Err(error) = forget_files(turn_capture, scope.tenant_id, &found.captured_sessions).await {
        tracing::warn!(%error, "files of training data still have lines about a person who is forgotten");
        let why = "Files of training data could not be rewritten. The next run of retention removes the lines.";
        found.kept.push(why.to_owned());
    }
    Ok(found)
}

/// Deletes the training data of a session, see [`interaction::forget_session`], in files too. Returns what was deleted,
/// and whether the files could be rewritten. If not, the next run of retention removes the lines.
///
/// # Errors
/// Those of [`interaction::forget_session`].
pub async fn forget_session(
    ledger: &Ledger,
    turn_capture: &Arc<TurnCapture>,
    scope: &Scope,
    id: SessionId,
) -> Result<(CapturedData, bool)> {
    let found = interaction::forget_session(ledger, scope, id).await?;
    let rewritten = forget_files(turn_capture, scope.tenant_id, &found.sessions).await;
    if let Err(error) = &rewritten {
        tracing::warn!(%error, session = %id, "files of training data still have lines of a forgotten session");
    }
    Ok((found, rewritten.is_ok()))
}
