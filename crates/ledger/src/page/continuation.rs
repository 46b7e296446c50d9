//! How the viewer of a session's page can continue it while it waits.

use crate::{
    Result,
    commit::is_thread,
    session::{OpenCall, open_calls},
    visibility::own_or_managed,
};
use domain::{
    Scope,
    role::Permission,
    session::{Session, Status},
};
use store::Conn;

/// What the viewer can give a session that waits.
#[derive(Debug, Clone, Default)]
pub enum Continuation {
    /// Nothing: it does not wait, it waits for something else, or the viewer may not continue it.
    #[default]
    Nothing,
    /// The text of a person, with which its next claim continues.
    Message,
    /// Results of custom tools. The calls that have none, oldest first; empty if the log has no calls.
    Results(Vec<OpenCall>),
}

/// Returns what the viewer can give the session. `is_gated` says that a person decides about its tool call.
pub(super) async fn continuation(
    conn: &mut Conn<'_>,
    scope: &Scope,
    session: &Session,
    is_gated: bool,
) -> Result<Continuation> {
    if own_or_managed(scope, session).is_err() {
        return Ok(Continuation::Nothing);
    }
    Ok(match session.status() {
        // A conversation continues on its own page.
        Status::Idle if is_thread(session) || session.attempt == 0 || session.waits_for().is_some() => {
            Continuation::Nothing
        }
        Status::Idle if scope.may(Permission::Converse) => Continuation::Message,
        Status::AwaitingTool if !is_gated && scope.may(Permission::StartSession) => {
            Continuation::Results(open_calls(conn, session).await?)
        }
        _ => Continuation::Nothing,
    })
}
