//! Which sessions a caller can see, write in and end.

use crate::{Error, Result, guard::require};
use domain::{Caller, Scope, canvas::ParticipantRole, event::Known, role::Permission, session::Session};
use store::Conn;

/// Returns whether the caller can see a session. An incognito session is visible to its own person, and to the
/// agent that claimed it last until the session ends. That agent also sees the sessions that it started from it.
/// No other caller can see it, whatever their role.
pub(crate) async fn can_see(conn: &mut Conn<'_>, scope: &Scope, session: &Session) -> store::Result<bool> {
    let Some(owner) = &session.private_to else { return Ok(true) };
    if scope.caller == Caller::System || *owner == scope.caller.to_string() {
        return Ok(true);
    }
    if is_working_agent(conn, scope, session).await? {
        return Ok(true);
    }
    let Some(parent_id) = session.parent_id else { return Ok(false) };
    match store::session::find(conn, scope.tenant_id, parent_id).await? {
        Some(parent) => is_working_agent(conn, scope, &parent).await,
        None => Ok(false),
    }
}

/// Returns the session if the caller can see it.
///
/// # Errors
/// [`Error::NotFound`] otherwise.
pub(crate) async fn require_visible(conn: &mut Conn<'_>, scope: &Scope, session: Option<Session>) -> Result<Session> {
    match session {
        Some(session) if can_see(conn, scope, &session).await? => Ok(session),
        _ => Err(Error::NotFound("session")),
    }
}

/// Returns the session if the caller can see it or claimed it last. Workers need this to repeat their last
/// report.
pub(crate) async fn require_visible_or_claimed(
    conn: &mut Conn<'_>,
    scope: &Scope,
    session: Option<Session>,
) -> Result<Session> {
    match session {
        Some(session)
            if session.private_to.is_none()
                || claimed_last(conn, scope, &session).await?
                || can_see(conn, scope, &session).await? =>
        {
            Ok(session)
        }
        _ => Err(Error::NotFound("session")),
    }
}

/// Returns what the caller may do with a canvas beyond reading it; `None` for callers who take no part in it.
pub(crate) async fn canvas_role(
    conn: &mut Conn<'_>,
    scope: &Scope,
    session: &Session,
) -> store::Result<Option<ParticipantRole>> {
    if is_own(scope, session) {
        return Ok(Some(ParticipantRole::Edit));
    }
    store::canvas::role(conn, (session.tenant_id, session.id), &scope.caller.to_string()).await
}

/// Returns whether the caller is the agent that works on the session. A person in a browser never is.
async fn is_working_agent(conn: &mut Conn<'_>, scope: &Scope, session: &Session) -> store::Result<bool> {
    if session.status().is_final() {
        return Ok(false);
    }
    claimed_last(conn, scope, session).await
}

/// Returns whether the caller is the agent that claimed the session last, whether or not it still works on it.
pub(crate) async fn claimed_last(conn: &mut Conn<'_>, scope: &Scope, session: &Session) -> store::Result<bool> {
    if scope.user_id().is_some() || !scope.may(Permission::Work) {
        return Ok(false);
    }
    let kinds = [Known::SessionClaimed.as_str().to_owned()];
    let end = session.head_sequence + 1;
    let claims = store::event::before(conn, session.tenant_id, session.id, end, &kinds, 1).await?;
    Ok(claims.items.last().is_some_and(|claim| claim.actor == scope.caller.to_string()))
}

/// Returns whether a session belongs to the caller: the caller created it, or it belongs to the caller as a person.
pub fn is_own(scope: &Scope, session: &Session) -> bool {
    session.created_by == scope.caller.to_string() || (session.user_id.is_some() && session.user_id == scope.user_id())
}

/// Refuses callers that may not stop or retry the session. Allowed for its own person, and for operators and admins.
pub(crate) fn own_or_managed(scope: &Scope, session: &Session) -> Result<()> {
    if is_own(scope, session) { Ok(()) } else { require(scope, Permission::ManageSessions) }
}
