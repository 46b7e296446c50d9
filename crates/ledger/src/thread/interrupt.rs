//! Stopping a turn, so that the conversation can go on.

use super::own;
use crate::{
    Ledger, Result, SessionRecord,
    commit::{Change, EventFactory, state, write},
    guard::require,
};
use domain::{
    Scope,
    id::SessionId,
    role::Permission,
    session::{Actor, Command, Report, Status, decide},
    thread::INTERRUPTED,
};

/// Takes a running turn away from its worker: the conversation rests, and the next message begins the next turn. What the
/// agent said so far stays in the log; what it has begun outside may go on for a moment, until its worker hears of it.
///
/// A conversation that rests already is answered as it is.
pub async fn interrupt(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<SessionRecord> {
    require(scope, Permission::Converse)?;
    let change = Change {
        id,
        actor: Actor::Caller,
        command: Command::Interrupt,
        caller: scope.caller,
        reason: INTERRUPTED.into(),
        minter: EventFactory::new(ledger, ledger.now(), 1),
    };
    let scope = *scope;
    let stopped = ledger.store().write((&scope).into(), move |tx| {
        Box::pin(async move {
            let before = own(&scope, store::session::find_locked(tx, scope.tenant_id, id).await?)?;
            if before.status() == Status::Idle {
                return Ok(before);
            }
            let transition = decide(state(&before), change.actor, change.command)?;
            write(tx, before, transition, change, Vec::new(), Report::default()).await
        })
    });
    stopped.await
}
