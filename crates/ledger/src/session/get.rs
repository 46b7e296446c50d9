//! Reading one session, or several by id.

use crate::{
    Error, Ledger, Result,
    guard::require,
    visibility::{can_see, require_visible},
};
use domain::{Scope, id::SessionId, limit::PAGE_MAX, role::Permission, session::Session};
use store::Conn;

/// Returns a session of the workspace that the caller can see.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Session> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    ledger.snapshot(scope, async move |conn| get_on(conn, &reader, id).await).await
}

/// [`get`] on an open connection.
pub(crate) async fn get_on(conn: &mut Conn<'_>, scope: &Scope, id: SessionId) -> Result<Session> {
    let found = store::session::find(conn, scope.tenant_id, id).await?;
    require_visible(conn, scope, found).await
}

/// Returns those of these sessions that exist in the workspace and that the caller can see, newest first.
///
/// # Errors
/// [`Error::Invalid`] for more than [`PAGE_MAX`] ids.
pub async fn list_by_ids(ledger: &Ledger, scope: &Scope, ids: &[SessionId]) -> Result<Vec<Session>> {
    require(scope, Permission::Read)?;
    let (reader, ids) = (*scope, ids.to_vec());
    ledger.snapshot(scope, async move |conn| list_by_ids_on(conn, &reader, &ids).await).await
}

/// [`list_by_ids`] on an open connection.
pub(crate) async fn list_by_ids_on(conn: &mut Conn<'_>, scope: &Scope, ids: &[SessionId]) -> Result<Vec<Session>> {
    if ids.len() > PAGE_MAX as usize {
        return Err(Error::invalid("ids", format!("at most {PAGE_MAX}")));
    }
    let mut sessions = Vec::new();
    for session in store::session::list_by_ids(conn, scope.tenant_id, ids).await? {
        if can_see(conn, scope, &session).await? {
            sessions.push(session);
        }
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.id));
    Ok(sessions)
}
