//! Takes sessions back from workers whose lease has expired.

use super::{BATCH, expire::expire_overdue, follow::follow_noted};
use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
    composition::advance_due,
};
use domain::{
    Caller, Scope,
    count::counted,
    event::kind::{Failure, SessionError},
    id::{SessionId, TenantId},
    session::{Actor, Command, Report, Session, Status, decide},
    tool::run::{MAY_HAVE_RUN, ToolRun},
};
use store::Access;

/// Counts of one sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Sessions that were queued again.
    pub requeued: u64,
    /// Sessions that failed because their last attempt lost its lease.
    pub failed: u64,
    /// Sessions that expired because a time limit was over.
    pub expired: u64,
    /// Endings that were handled by this sweep.
    pub followed: u64,
    /// Runs of composite tools that began a step after a pause.
    pub advanced: u64,
}

/// Queues sessions whose lease has expired. At their last attempt they fail with `lease_exhausted`. Also expires
/// sessions whose time limit is over, handles endings that no request has handled, and begins steps of composite tools
/// whose pause is over. A session that cannot be read or
/// written stops neither the others nor the following steps.
///
/// Safe to run on several servers at once: each session is decided under its row's lock.
///
/// # Errors
/// The error of a step, after all steps have run.
pub async fn sweep(ledger: &Ledger) -> Result<Swept> {
    let mut swept = Swept::default();
    let lost = take_back_lost(ledger, &mut swept).await;
    let overdue = expire_overdue(ledger, &mut swept.expired).await;
    let noted = follow_noted(ledger).await.map(|followed| swept.followed = followed);
    let due = advance_due(ledger).await.map(|advanced| swept.advanced = advanced);
    lost.and(overdue).and(noted).and(due).map(|()| swept)
}

async fn take_back_lost(ledger: &Ledger, swept: &mut Swept) -> Result<()> {
    let (mut after, mut failure) = (None, None);
    loop {
        let leases = ledger.lease_time();
        let lost = ledger
            .store()
            .read(Access::System, async move |conn| {
                let now = leases.now(conn).await?;
                store::session::leases_lost(conn, now, after, BATCH).await
            })
            .await?;
        for session in &lost {
            match take_back(ledger, session.tenant_id, session.id).await {
                Ok(Some(status)) => {
                    ledger.activity().lease_expired();
                    let count = if status == Status::Failed { &mut swept.failed } else { &mut swept.requeued };
                    *count += 1;
                }
                Ok(None) => {}
                Err(error) => failure = Some(error),
            }
        }
        if lost.len() < BATCH as usize {
            return failure.map_or(Ok(()), Err);
        }
        // Sessions that failed are still in the list, so the next batch begins after this one.
        after = lost.last().copied();
    }
}

/// Why a session failed whose attempts are used up.
fn exhausted_reason(attempts_max: u32) -> String {
    format!("the last of {} was lost", counted(attempts_max.into(), "attempt"))
}

/// The reason and the error code of such a session. What a lost worker did for a tool is unknown.
fn exhausted(session: &Session) -> (String, &'static str) {
    let lost = exhausted_reason(session.attempts_max);
    match ToolRun::of_session(session) {
        Some(_) => (format!("{lost}: the tool may have run"), MAY_HAVE_RUN),
        None => (lost, "lease_exhausted"),
    }
}

/// Takes one session back if its lease is still expired. Returns its new status.
async fn take_back(ledger: &Ledger, tenant_id: TenantId, id: SessionId) -> Result<Option<Status>> {
    let scope = Scope::system(tenant_id);
    let leases = ledger.lease_time();
    let mut change = Change {
        id,
        actor: Actor::Server,
        command: Command::LoseLease,
        caller: Caller::System,
        reason: "the worker's lease ran out".into(),
        minter: Minter::new(ledger, ledger.now()),
    };
    ledger
        .write((&scope).into(), async move |tx| {
            let Some(before) = store::session::find_locked(tx, tenant_id, id).await? else { return Ok(None) };
            // A heartbeat may have extended the lease since it was read.
            let now = leases.now(tx.conn()).await?;
            if before.lease_expires_at().is_none_or(|at| at >= now) {
                return Ok(None);
            }
            let Ok(transition) = decide(state(&before), change.actor, change.command) else { return Ok(None) };
            let mut events = Vec::new();
            let mut report = Report::default();
            if transition.to() == Status::Failed {
                let (reason, code) = exhausted(&before);
                let failure = Failure::Exhausted { code: code.into(), attempts: before.attempt };
                events.push(change.minter.event(&SessionError::new(&reason, failure)));
                report = Report::error(reason.clone(), code);
                change.reason = reason;
            }
            let session = write(tx, before, transition, change, events, report).await?;
            Ok(Some(session.status()))
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::exhausted_reason;

    #[test]
    fn a_single_attempt_is_named_in_the_singular() {
        assert_eq!([1, 3].map(exhausted_reason), ["the last of 1 attempt was lost", "the last of 3 attempts was lost"]);
    }
}
