//! A worker gives its session back unfinished.

use crate::commit::{Change, EventFactory, apply};
use crate::{Ledger, Result, SessionRecord, guard::require};
use domain::{
    Scope,
    id::SessionId,
    role::Permission,
    session::{Actor, Command},
};

/// Puts the session back into the queue for another worker.
pub async fn release(ledger: &Ledger, scope: &Scope, id: SessionId, attempt: u32) -> Result<SessionRecord> {
    require(scope, Permission::Work)?;
    let change = Change {
        id,
        actor: Actor::Worker { attempt },
        command: Command::Release,
        caller: scope.caller,
        reason: "released by its worker".into(),
        minter: EventFactory::new(ledger, ledger.now(), 1),
    };
    apply(ledger, scope, change, |_| Ok(Vec::new())).await
}
