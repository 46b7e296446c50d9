//! Reading the caller's conversations.

use super::is_thread;
use crate::{
    Error, Ledger, ListPage, Listed, Result,
    cursor::{List, encode},
    guard::require,
    session::{self, turns_on},
};
use domain::{Scope, id::SessionId, role::Permission, session::Session};
use store::Conn;
use uuid::Uuid;

/// Returns one page of the conversations that the caller started, or that belong to the caller as a person,
/// newest first. An incognito conversation is only listed for the caller that started it.
///
/// # Errors
/// [`Error::Invalid`] for a limit above 1,000; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<Session>> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let (before, limit) = page.before_id(List::Threads)?;
    ledger.snapshot(scope, async move |conn| list_on(conn, &reader, before, limit).await).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Listed<Session>> {
    let (created_by, user) = (scope.caller.to_string(), scope.acting_user());
    let page = store::thread::own(conn, scope.tenant_id, (&created_by, user), before.map(SessionId), limit).await?;
    Ok(Listed::of(page, |last| encode(List::Threads, last.id.0)))
}

/// Returns a conversation of the workspace and its number of turns. Everyone who can read its session may read
/// it.
///
/// # Errors
/// [`Error::NotFound`] if there is no such conversation or the caller cannot see it.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<(Session, u64)> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    ledger.snapshot(scope, async move |conn| get_on(conn, &reader, id).await).await
}

/// [`get`] on an open connection.
pub(crate) async fn get_on(conn: &mut Conn<'_>, scope: &Scope, id: SessionId) -> Result<(Session, u64)> {
    let session = match session::get_on(conn, scope, id).await {
        Ok(session) if is_thread(&session) => session,
        Ok(_) | Err(Error::NotFound(_)) => return Err(Error::NotFound("thread")),
        Err(error) => return Err(error),
    };
    let turns = turns_on(conn, &session).await?;
    Ok((session, turns))
}
