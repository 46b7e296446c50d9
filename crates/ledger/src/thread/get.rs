//! Reading one conversation.

use super::is_thread;
use crate::{
    Error, Ledger, Result,
    guard::require,
    session::{self, turns_on},
};
use domain::{Scope, id::SessionId, role::Permission, session::Session};
use store::Conn;

/// Returns a conversation of the workspace and its number of turns. Everyone who can read its session may read
/// it.
///
/// # Errors
/// [`Error::NotFound`] if there is no such conversation or the caller cannot see it.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<(Session, u64)> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    ledger.snapshot(scope, move |conn| Box::pin(async move { get_on(conn, &reader, id).await })).await
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
