//! A person says what they think of an answer.

use super::settle::{Line, line_id, record};
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
    interaction::{insert_feedback, session_of},
    mark_due::MarkDue,
};
use uuid::Uuid;

/// Feedback that was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// What it is about.
    pub id: InteractionId,
    /// What was said.
    pub feedback: Feedback,
    /// When it was given.
    pub at: Timestamp,
    /// Its row.
    pub line_id: Uuid,
}

/// Keeps what a person thinks of an answer beside it. `line` makes the line of the stream from the time.
///
/// For whoever runs or asked for its session, and for reviewers, operators and admins.
///
/// With `file_within` the line is to be in a file too: it is due after that time, until [`mark_written`] says that it is
/// there.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such interaction.
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
    let kept = ledger.store().write((&scope).into(), move |tx| {
        Box::pin(async move {
            let not_found = Error::NotFound("interaction");
            let Some(session_id) = session_of(tx.conn(), scope.tenant_id, id).await? else { return Err(not_found) };
            if !scope.may(Permission::Decide) {
                let session = store::session::find(tx.conn(), scope.tenant_id, session_id).await?.ok_or(not_found)?;
                if !is_own(&scope, &session) {
                    return Err(Error::Forbidden(
                        "this is someone else's session: only reviewers, operators and admins can label its answers",
                    ));
                }
            }
            let record = record(row_id, &line);
            insert_feedback(tx, scope.tenant_id, (session_id, id), (feedback, Source::Manual), &record).await?;
            if let Some(within) = file_within {
                store::mark_due::push(tx, scope.tenant_id, (row_id, session_id), at + within).await?;
            }
            Ok(())
        })
    });
    kept.await?;
    Ok(Mark { id, feedback, at, line_id: row_id })
}

/// Feedback that is to be in a file and is not there yet, of any workspace, at most `max` lines.
pub async fn list_unwritten(ledger: &Ledger, max: u32) -> Result<Vec<MarkDue>> {
    let now = ledger.now();
    Ok(ledger.store().read(Access::System, move |conn| Box::pin(store::mark_due::due(conn, now, max))).await?)
}

/// These lines are in their files.
pub async fn mark_written(ledger: &Ledger, lines: Vec<(TenantId, Uuid)>) -> Result<()> {
    let noted = ledger.store().write::<_, Error, _>(Access::System, move |tx| {
        Box::pin(async move {
            for (tenant_id, id) in lines {
                store::mark_due::done(tx, tenant_id, id).await?;
            }
            Ok(())
        })
    });
    noted.await
}

/// What is due could not be written: it is tried again after this time.
pub async fn postpone_unwritten(ledger: &Ledger, by: TimeDelta) -> Result<()> {
    let now = ledger.now();
    let put_off = ledger.store().write::<_, Error, _>(Access::System, move |tx| {
        Box::pin(async move { Ok(store::mark_due::postpone(tx, now, now + by).await?) })
    });
    put_off.await
}
