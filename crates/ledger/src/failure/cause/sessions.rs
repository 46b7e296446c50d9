//! The failed sessions of a cause.

use crate::{
    Error, FailureRecord, Ledger, ListPage, Listed, Result,
    cursor::{List, decode_at, encode_at, page_size},
    guard::require,
};
use domain::{
    Scope,
    clock::to_micros,
    failure::cause::Span,
    id::{CauseId, EventId, SessionId},
    role::Permission,
};
use store::Conn;

/// A failure of a cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CausedSession {
    /// The failure, with its session.
    pub failure: FailureRecord,
    /// The newest session that runs it again, if there is one.
    pub retried_by: Option<SessionId>,
}

/// Returns one page of the failures of a cause, newest first.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such cause; [`Error::Invalid`] for a limit above 1,000;
/// [`Error::InvalidCursor`] for a cursor of another list.
pub async fn sessions(ledger: &Ledger, scope: &Scope, id: CauseId, page: ListPage) -> Result<Listed<CausedSession>> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    ledger
        .snapshot(scope, async move |conn| {
            let span = Span { since: now, until: now };
            let known = store::failure::cause::find(conn, reader.tenant_id, id, span).await?;
            known.ok_or(Error::NotFound("cause"))?;
            sessions_on(conn, &reader, id, &page).await
        })
        .await
}

/// [`sessions`] of a known cause, on an open connection.
pub(crate) async fn sessions_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    id: CauseId,
    page: &ListPage,
) -> Result<Listed<CausedSession>> {
    let limit = page_size(page.limit)?;
    let before = page.cursor.as_deref().map(|cursor| decode_at(List::CausedFailures, cursor)).transpose()?;
    let before = before.map(|(at, failure)| (at, EventId(failure)));
    let found = store::failure::cause::sessions(conn, scope.tenant_id, id, before, limit).await?;
    let ids: Vec<SessionId> = found.items.iter().map(|failure| failure.session_id).collect();
    let mut retries = store::failure::cause::retries(conn, scope.tenant_id, &ids).await?;
    let next_cursor = found.items.last().filter(|_| found.has_more);
    let next_cursor = next_cursor.map(|last| encode_at(List::CausedFailures, to_micros(last.at), last.id.0));
    let session = |failure: FailureRecord| CausedSession { retried_by: retries.remove(&failure.session_id), failure };
    Ok(Listed { items: found.items.into_iter().map(session).collect(), next_cursor })
}
