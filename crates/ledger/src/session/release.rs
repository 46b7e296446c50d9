//! Releasing a session that is not finished.

use crate::commit::{Change, EventFactory, apply};
use crate::{Ledger, Result, SessionRecord, guard::require};
use domain::{
    Scope,
    id::SessionId,
    role::Permission,
    session::{Actor, Command},
};

/// Puts the session of a worker back into the queue, so that another worker can claim it.
pub async fn release(ledger: &Ledger, scope: &Scope, id: SessionId, attempt: u32) -> Result<SessionRecord> {
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
