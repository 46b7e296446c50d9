//! Triggering an action, which creates a session of it.

use crate::{
    Ledger, Result,
    session::{DependsOn, NewSession, create},
};
use domain::{
    Scope,
    id::{ActionId, SessionId},
    session::{Session, Type},
};

/// Optional settings of the new session.
#[derive(Debug, Clone, Default)]
pub struct Trigger {
    /// Input for the worker, as JSON.
    pub input: Option<String>,
    /// The session that starts this one.
    pub parent_id: Option<SessionId>,
    /// Sessions that must end before the new one is queued.
    pub depends_on: Vec<DependsOn>,
    /// A repeat with the same key returns the session that the first request created.
    pub idempotency_key: Option<String>,
}

/// Creates an agent session of the action. It is pending, or a draft while it waits for other sessions.
///
/// # Errors
/// Those of [`crate::session::create()`].
pub async fn trigger(ledger: &Ledger, scope: &Scope, id: ActionId, trigger: Trigger) -> Result<Session> {
    let new = NewSession {
        session_type: Type::Agent,
        action_id: Some(id),
        input: trigger.input,
        parent_id: trigger.parent_id,
        depends_on: trigger.depends_on,
        idempotency_key: trigger.idempotency_key,
        ..NewSession::of_type(Type::Agent)
    };
    create(ledger, scope, new).await
}
