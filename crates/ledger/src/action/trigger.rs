//! Triggering an action: a new session in the queue.

use crate::{
    Ledger, Result, SessionRecord,
    session::{NewSession, create},
};
use domain::{Scope, id::ActionId, session::Type};

/// What a trigger carries.
#[derive(Debug, Clone, Default)]
pub struct Trigger {
    /// JSON for the worker.
    pub input: Option<String>,
    /// The same key answers with the same session again.
    pub idempotency_key: Option<String>,
}

/// Creates a pending agent session of the action.
pub async fn trigger(ledger: &Ledger, scope: &Scope, id: ActionId, trigger: Trigger) -> Result<SessionRecord> {
    let new = NewSession {
        session_type: Type::Agent,
        action_id: Some(id),
        input: trigger.input,
        idempotency_key: trigger.idempotency_key,
        ..NewSession::of_type(Type::Agent)
    };
    create(ledger, scope, new).await
}
