//! Stopping work on a task: by the person, and after the session was left open.

use super::person;
use crate::{
    Error, Ledger, Result,
    commit::{Change, Minter, state, write},
    lease::Lease,
    left_open::{self, LeftOpen},
};
use chrono::TimeDelta;
use domain::{
    Scope,
    human::SOURCE,
    id::SessionId,
    limit::WORKING_HOURS_MAX,
    session::{Actor, Command, Report, Session, decide},
};

/// Completes the caller's own human session. If it has ended already, returns it unchanged.
///
/// # Errors
/// [`Error::Forbidden`] if the caller is not a person, or not the one who started the session; [`Error::NotFound`] if
/// the workspace has no such human session.
pub async fn stop(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Session> {
    let user_id = person(scope)?;
    let change = Change {
        id,
        actor: Actor::Caller,
        command: Command::Stop,
        caller: scope.caller,
        reason: "stopped".into(),
        minter: Minter::new(ledger, ledger.now()),
    };
    let tenant_id = scope.tenant_id;
    ledger
        .write(scope.into(), async move |tx| {
            let found = store::session::find_locked(tx, tenant_id, id).await?;
            let before = found.ok_or(Error::NotFound("session"))?;
            if before.source.as_deref() != Some(SOURCE) {
                return Err(Error::NotFound("working session"));
            }
            if before.user_id != Some(user_id) {
                return Err(Error::Forbidden("only the person who started this working session can stop it"));
            }
            if before.status().is_final() {
                return Ok(before);
            }
            let transition = decide(state(&before), change.actor, change.command)?;
            write(tx, before, transition, change, Vec::new(), Report::default()).await
        })
        .await
}

/// The sweep. Other servers do not sweep until the lease is over.
const LEASE: Lease = Lease { name: "human-sweep", time: TimeDelta::minutes(5) };

/// Abandons human sessions that have been open for 12 hours. Returns how many, or `None` if another server holds
/// the lease.
pub async fn sweep(ledger: &Ledger) -> Result<Option<u64>> {
    if !LEASE.take(ledger).await? {
        return Ok(None);
    }
    left_open::sweep(ledger, LeftOpen::Work, TimeDelta::hours(WORKING_HOURS_MAX)).await.map(Some)
}
