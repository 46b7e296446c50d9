//! Expiring sessions whose time limit is over.

use super::BATCH;
use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
};
use domain::{
    Caller, Scope,
    event::kind::{Failure, SessionError},
    failure::TIMED_OUT,
    id::{SessionId, TenantId},
    session::{Actor, Command, Report, decide},
};
use store::Access;

/// Expires every session that has been in its status for longer than its limit, and adds how many this call expired to
/// `expired`. A session whose gate holds a decision is left until the decision took effect or was undone.
///
/// Safe to run on several servers at once: each session is decided under its row's lock.
///
/// # Errors
/// The error of a session, after all sessions were tried.
pub(super) async fn expire_overdue(ledger: &Ledger, expired: &mut u64) -> Result<()> {
    let (mut after, mut failure) = (None, None);
    loop {
        let now = ledger.now();
        let look = ledger
            .store()
            .read(Access::System, async move |conn| store::session::overdue(conn, now, after, BATCH).await);
        let overdue = look.await?;
        for session in &overdue {
            match expire(ledger, session.tenant_id, session.id).await {
                Ok(done) => *expired += u64::from(done),
                Err(error) => failure = Some(error),
            }
        }
        if overdue.len() < BATCH as usize {
            return failure.map_or(Ok(()), Err);
        }
        // Sessions that stay are still in the list, so the next batch begins after this one.
        after = overdue.last().copied();
    }
}

/// Expires one session if it is still overdue. Returns whether it did.
async fn expire(ledger: &Ledger, tenant_id: TenantId, id: SessionId) -> Result<bool> {
    let now = ledger.now();
    let mut change = Change {
        id,
        actor: Actor::Server,
        command: Command::Expire,
        caller: Caller::System,
        reason: String::new(),
        minter: Minter::new(ledger, now),
    };
    ledger
        .write((&Scope::system(tenant_id)).into(), async move |tx| {
            let Some(before) = store::session::find_locked(tx, tenant_id, id).await? else { return Ok(false) };
            // The session may have changed its status or ended since it was read.
            if before.deadline_at().is_none_or(|at| at > now) {
                return Ok(false);
            }
            let Ok(transition) = decide(state(&before), change.actor, change.command) else { return Ok(false) };
            // A recorded decision keeps its effect: the session stays until its gate is settled or open again.
            let gate = store::gate::waiting_locked(tx, tenant_id, id).await?;
            if gate.is_some_and(|gate| gate.state.held_until().is_some()) {
                return Ok(false);
            }
            let seconds = before.time_limits.of(before.status()).unwrap_or_default();
            change.reason = format!("it was {} for longer than {seconds} s", before.status());
            let failure = Failure::TimedOut { code: TIMED_OUT.into(), status: before.status(), limit_seconds: seconds };
            let message = change.reason.clone();
            let events = vec![change.minter.event(&SessionError::new(&message, failure))];
            write(tx, before, transition, change, events, Report::error(message, TIMED_OUT)).await?;
            Ok(true)
        })
        .await
}
