//! A person says what they think of an answer.

use super::settle::{Line, line_id, record};
use crate::{Error, Ledger, Result, guard::require, thread::is_own};
use domain::{
    Scope, Timestamp,
    id::InteractionId,
    interaction::{Feedback, Source},
    role::Permission,
};
use store::interaction::{insert_feedback, session_of};

/// Feedback that was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// What it is about.
    pub id: InteractionId,
    /// What was said.
    pub feedback: Feedback,
    /// When it was given.
    pub at: Timestamp,
}

/// Keeps what a person thinks of an answer beside it. `line` makes the line of the stream from the time.
///
/// For whoever runs or asked for its session, and for reviewers, operators and admins.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such interaction.
pub async fn mark(
    ledger: &Ledger,
    scope: &Scope,
    id: InteractionId,
    feedback: Feedback,
    line: impl FnOnce(Timestamp) -> Result<String>,
) -> Result<Mark> {
    require(scope, Permission::Converse)?;
    let at = ledger.now();
    let line = Line { about: id, at, record: line(at)? };
    let scope = *scope;
    let kept = ledger.store().write((&scope).into(), move |tx| {
        Box::pin(async move {
            let not_found = Error::NotFound("interaction");
            let Some(session_id) = session_of(tx.conn(), scope.tenant_id, id).await? else { return Err(not_found) };
            if !scope.may(Permission::Decide) {
                let session = store::session::find(tx.conn(), scope.tenant_id, session_id).await?.ok_or(not_found)?;
                if !is_own(&scope, &session) {
                    return Err(Error::Forbidden(
                        "somebody else's session: reviewers, operators and admins judge its answers",
                    ));
                }
            }
            let record = record(line_id(&line), &line);
            insert_feedback(tx, scope.tenant_id, (session_id, id), (feedback, Source::Manual), &record).await?;
            Ok(())
        })
    });
    kept.await?;
    Ok(Mark { id, feedback, at })
}
