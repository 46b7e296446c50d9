//! Releasing a session that is not finished.

use crate::{
    Ledger, Result,
    commit::{Change, EventFactory, apply},
    guard::require,
};
use domain::{
    Scope,
    id::SessionId,
    role::Permission,
    session::{Actor, Command, Session},
};

/// Puts the session of a worker back into the queue, so that another worker can claim it.
pub async fn release(ledger: &Ledger, scope: &Scope, id: SessionId, attempt: u32) -> Result<Session> {
    require(scope, Permission::Work)?;
    let change = Change {
        id,
        actor: Actor::Worker { attempt },
        command: Command::Release,
        caller: scope.caller,
        reason: "released by its worker".into(),
        factory: EventFactory::new(ledger, ledger.now(), 1),
    };
    apply(ledger, scope, change, |_| Ok(Vec::new())).await
}
