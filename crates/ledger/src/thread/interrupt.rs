//! Interrupting a turn, so that the conversation can continue.

use super::own;
use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
    guard::require,
};
use domain::{
    Scope,
    id::SessionId,
    role::Permission,
    session::{Actor, Command, Report, Session, Status, decide},
    thread::INTERRUPTED,
};

/// Takes a running turn away from its worker. The conversation becomes idle, and the next message starts the
/// next turn. Messages of the agent stay in the log. Work outside may continue until the worker notices the
/// interruption.
///
/// A conversation that is idle already is returned unchanged.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such conversation, or if it is another person's incognito one;
/// [`crate::Error::Forbidden`] for any other conversation of another person; [`crate::Error::Refused`] if no turn is
/// running, unless the conversation is idle.
pub async fn interrupt(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Session> {
    require(scope, Permission::Converse)?;
    let change = Change {
        id,
        actor: Actor::Caller,
        command: Command::Interrupt,
        caller: scope.caller,
        reason: INTERRUPTED.into(),
        minter: Minter::new(ledger, ledger.now()),
    };
    let scope = *scope;
    let stopped = ledger.write((&scope).into(), async move |tx| {
        let before = own(&scope, store::session::find_locked(tx, scope.tenant_id, id).await?)?;
        if before.status() == Status::Idle {
            return Ok(before);
        }
        let transition = decide(state(&before), change.actor, change.command)?;
        write(tx, before, transition, change, Vec::new(), Report::default()).await
    });
    stopped.await
}
