//! Recording a person's feedback on an answer.

use super::record_turns::{Line, line_id, record};
use crate::{Error, Ledger, Result, guard::require, visibility::is_own};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    id::{InteractionId, TenantId},
    interaction::{Feedback, Source},
    role::Permission,
};
use store::{
    Access,
    interaction::{insert_feedback, mark_due::MarkDue, session_of},
};
use uuid::Uuid;

/// Recorded feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Interaction to which the feedback belongs.
    pub id: InteractionId,
    /// Whether the answer is positive, neutral or negative.
    pub feedback: Feedback,
    /// When it was given (UTC).
    pub at: Timestamp,
    /// Id of its row.
    pub line_id: Uuid,
}

/// Records feedback on an interaction. `line` builds the line of the feedback stream for the given time.
///
/// Allowed for the person who runs or started the session, and for reviewers, operators and admins.
///
/// `file_within` is set if the line must also be written to a file. The line is then due after that time, until
/// [`mark_written`] is called.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such interaction; [`Error::Forbidden`] for the session of another
/// person; the error of `line`.
pub async fn mark(
    ledger: &Ledger,
    scope: &Scope,
    id: InteractionId,
    feedback: Feedback,
    line: impl FnOnce(Timestamp) -> Result<String>,
    file_within: Option<TimeDelta>,
) -> Result<Mark> {
    require(scope, Permission::Converse)?;
    let at = ledger.now();
    let line = Line { about: id, at, record: line(at)? };
    let row_id = line_id(&line);
    let scope = *scope;
    let kept = ledger.write((&scope).into(), async move |tx| {
        let not_found = || Error::NotFound("interaction");
        let session_id = session_of(tx.conn(), scope.tenant_id, id).await?.ok_or_else(not_found)?;
        let session = store::session::find_locked(tx, scope.tenant_id, session_id).await?.ok_or_else(not_found)?;
        // An erasure of the session may have been waited for. What is inserted after it would stay.
        session_of(tx.conn(), scope.tenant_id, id).await?.ok_or_else(not_found)?;
        if !scope.may(Permission::Decide) && !is_own(&scope, &session) {
            return Err(Error::Forbidden(
                "this is someone else's session: only reviewers, operators and admins can label its answers",
            ));
        }
        let record = record(row_id, &line);
        insert_feedback(tx, scope.tenant_id, (session_id, id), (feedback, Source::Manual), &record).await?;
        if let Some(within) = file_within {
            store::interaction::mark_due::push(tx, scope.tenant_id, (row_id, session_id), at + within).await?;
        }
        Ok(())
    });
    kept.await?;
    Ok(Mark { id, feedback, at, line_id: row_id })
}

/// Returns at most `max` lines of feedback, of all workspaces, that are due to be written to a file.
pub async fn list_unwritten(ledger: &Ledger, max: u32) -> Result<Vec<MarkDue>> {
    let now = ledger.now();
    Ok(ledger
        .store()
        .read(Access::System, async move |conn| store::interaction::mark_due::due(conn, now, max).await)
        .await?)
}

/// Records that these lines are in their files.
pub async fn mark_written(ledger: &Ledger, lines: Vec<(TenantId, Uuid)>) -> Result<()> {
    let noted = ledger.write(Access::System, async move |tx| {
        for (tenant_id, id) in lines {
            store::interaction::mark_due::done(tx, tenant_id, id).await?;
        }
        Ok(())
    });
    noted.await
}

/// Postpones all due lines by this time, because they could not be written.
pub async fn postpone_unwritten(ledger: &Ledger, by: TimeDelta) -> Result<()> {
    let now = ledger.now();
    let put_off = ledger
        .write(Access::System, async move |tx| Ok(store::interaction::mark_due::postpone(tx, now, now + by).await?));
    put_off.await
}
