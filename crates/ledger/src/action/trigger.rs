//! Triggering an action: a new session in the queue.

use crate::{
    Ledger, Result, SessionRecord,
    session::{DependsOn, NewSession, create},
};
use domain::{
    Scope,
    id::{ActionId, SessionId},
    session::Type,
};

/// What a trigger carries.
#[derive(Debug, Clone, Default)]
pub struct Trigger {
    /// JSON for the worker.
    pub input: Option<String>,
    /// The session that starts this one.
    pub parent_id: Option<SessionId>,
    /// Sessions that have to end before it is queued.
    pub depends_on: Vec<DependsOn>,
    /// The same key answers with the same session again.
    pub idempotency_key: Option<String>,
}

/// Creates an agent session of the action: pending, or a draft while it waits for others.
pub async fn trigger(ledger: &Ledger, scope: &Scope, id: ActionId, trigger: Trigger) -> Result<SessionRecord> {
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
