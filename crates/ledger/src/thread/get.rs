//! One conversation.

use super::is_thread;
use crate::{
    Error, Ledger, Result, SessionRecord,
    guard::require,
    session::{self, turns},
};
use domain::{Scope, id::SessionId, role::Permission};

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
