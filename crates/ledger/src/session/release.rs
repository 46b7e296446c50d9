//! Releasing a session that is not finished.

use super::Claimed;
use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
    guard::require,
    visibility::require_visible_or_claimed,
};
use domain::{
    Scope,
    event::kind::{Failure, SessionError},
    failure::RELEASED_TOO_OFTEN,
    id::SessionId,
    limit::RELEASED_ATTEMPTS_MAX,
    role::Permission,
    session::{Actor, Command, Report, Session, Status, decide},
};

/// Puts the session of a worker back into the queue, so that another worker can claim it. After
/// [`RELEASED_ATTEMPTS_MAX`] attempts it fails instead, so that workers cannot pass it on for ever.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session, or if the caller neither can see it nor claimed it last;
/// [`crate::Error::Refused`] if the worker does not hold it.
pub async fn release(ledger: &Ledger, scope: &Scope, id: SessionId, attempt: u32) -> Result<Session> {
    require(scope, Permission::Work)?;
    let mut change = Change {
        id,
        actor: Actor::Worker { attempt },
        command: Command::Release,
        caller: scope.caller,
        reason: "released by its worker".into(),
        minter: Minter::new(ledger, ledger.now()),
    };
    let caller = *scope;
    ledger
        .write(scope.into(), async move |tx| {
            let before = store::session::find_locked(tx, caller.tenant_id, id).await?;
            let before = require_visible_or_claimed(tx.conn(), &caller, before).await?;
            let transition = decide(state(&before), change.actor, change.command)?;
            if transition.to() != Status::Failed {
                return write(tx, before, transition, change, Vec::new(), Report::default()).await;
            }
            let message = format!("the last of {RELEASED_ATTEMPTS_MAX} attempts was released");
            let failure = Failure::Exhausted { code: RELEASED_TOO_OFTEN.into(), attempts: before.attempt };
            let error = SessionError::new(&message, failure);
            let events = vec![change.minter.event(&error)];
            change.reason.clone_from(&message);
            write(tx, before, transition, change, events, Report::error(message, RELEASED_TOO_OFTEN)).await
        })
        .await
}

/// Releases sessions that no one takes after all: their claimer is gone or may no longer work. A session that cannot be
/// released returns to the queue when its lease expires.
pub async fn release_all(ledger: &Ledger, scope: &Scope, claimed: Vec<Claimed>) {
    for Claimed { session, .. } in claimed {
        if let Err(error) = release(ledger, scope, session.id, session.attempt).await {
            tracing::info!(%error, session_id = %session.id, "a session is free when its lease runs out");
        }
    }
}
