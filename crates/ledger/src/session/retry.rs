//! Repeating a session that has ended.

use super::{
    cancel::own_or_managed,
    change::Minter,
    create::{NewSession, insert},
};
use crate::thread::is_thread;
use crate::{Error, Ledger, Result, SessionRecord, guard::require};
use domain::{
    Scope,
    id::SessionId,
    role::Permission,
    session::{Refusal, Type},
};

/// A new session with the same action, input and parent. The old one stays as it is.
pub async fn retry(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<SessionRecord> {
    require(scope, Permission::StartSession)?;
    let now = ledger.now();
    let fresh = SessionId::new(now, ledger.entropy());
    let minter = Minter::new(ledger, now, 2);
    let scope = *scope;
    ledger
        .store()
        .write((&scope).into(), move |tx| {
            Box::pin(async move {
                let old =
                    store::session::find(tx.conn(), scope.tenant_id, id).await?.ok_or(Error::NotFound("session"))?;
                own_or_managed(&scope, &old)?;
                if !old.status.is_final() || !matches!(old.session_type, Type::Agent | Type::Tool) {
                    return Err(Refusal::WrongStatus { status: old.status }.into());
                }
                if is_thread(&old) {
                    return Err(Error::invalid("id", "a conversation is not repeated: begin another"));
                }
                let new = NewSession {
                    session_type: old.session_type,
                    action_id: old.action_id,
                    agent_slug: old.agent_slug,
                    title: Some(old.title),
                    input: old.input,
                    metadata: Some(old.metadata),
                    parent_id: old.parent_id,
                    idempotency_key: None,
                };
                insert(tx, scope, fresh, minter, new, Some(id)).await
            })
        })
        .await
}
