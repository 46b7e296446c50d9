//! One cause, and the cause of a session.

use super::{
    list::{Cause, with_parts},
    span::When,
};
use crate::{Error, Ledger, Result, guard::require};
use domain::{
    Scope, Timestamp,
    failure::cause::Span,
    id::{CauseId, SessionId},
    limit::CAUSE_FAILURES_MAX,
    role::Permission,
};
use store::Conn;

/// Returns a cause, and the time range in which its failures are counted.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such cause; [`Error::Invalid`] for a wrong range or an unknown time
/// zone.
pub async fn get(ledger: &Ledger, scope: &Scope, id: CauseId, when: When) -> Result<(Cause, Span)> {
    require(scope, Permission::Read)?;
    when.check()?;
    let (reader, now) = (*scope, ledger.now());
    ledger.snapshot(scope, async move |conn| get_on(conn, &reader, id, &when, now).await).await
}

/// [`get`] on an open connection. The range is checked.
pub(crate) async fn get_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    id: CauseId,
    when: &When,
    now: Timestamp,
) -> Result<(Cause, Span)> {
    when.check()?;
    let span = when.span(conn, scope, now).await?;
    let record = store::failure::cause::find(conn, scope.tenant_id, id, span).await?;
    let record = record.ok_or(Error::NotFound("cause"))?;
    let cause = with_parts(conn, scope, vec![record], span, now).await?.pop();
    Ok((cause.ok_or(Error::NotFound("cause"))?, span))
}

/// The failures that have the cause of a session's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alike {
    /// What the failures have in common.
    pub cause_id: CauseId,
    /// Number of other failures of the cause.
    pub others: u64,
}

/// Returns how many other failures have the cause of a session's failure; `None` if it has no cause. The caller must be
/// able to see the session.
pub(crate) async fn alike_on(conn: &mut Conn<'_>, scope: &Scope, session: SessionId) -> store::Result<Option<Alike>> {
    let Some(cause_id) = store::failure::cause::cause_of(conn, scope.tenant_id, session).await? else {
        return Ok(None);
    };
    let failures = store::failure::cause::count(conn, scope.tenant_id, cause_id, CAUSE_FAILURES_MAX).await?;
    Ok(Some(Alike { cause_id, others: failures.saturating_sub(1) }))
}
