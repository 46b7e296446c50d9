//! One conversation, and how many turns a session had.

use super::is_thread;
use crate::{Error, Ledger, Result, SessionRecord, guard::require, session};
use domain::{Scope, id::SessionId, role::Permission, session::Type};

/// A conversation of the workspace, and its turns so far. Whoever may read its session may read it.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<(SessionRecord, u64)> {
    require(scope, Permission::Read)?;
    let session = session::get(ledger, scope, id).await;
    let session = match session {
        Ok(session) if is_thread(&session) => session,
        Ok(_) | Err(Error::NotFound(_)) => return Err(Error::NotFound("thread")),
        Err(error) => return Err(error),
    };
    let turns = turns(ledger, scope, &session).await?;
    Ok((session, turns))
}

/// How many turns a session had: messages of a person in its log; where there are none, and it is no conversation, the
/// attempts at it.
pub async fn turns(ledger: &Ledger, scope: &Scope, session: &SessionRecord) -> Result<u64> {
    let (tenant_id, id) = (scope.tenant_id, session.id);
    let read = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(async move { store::thread::messages(conn, tenant_id, id).await }));
    let messages = read.await?;
    Ok(if messages == 0 && session.session_type == Type::Agent && !is_thread(session) {
        session.attempt.into()
    } else {
        messages
    })
}
