//! Taking sessions back from workers that went silent.

use super::{expire::expire_overdue, follow::follow_noted};
use crate::{
    Ledger, Result,
    commit::{Change, EventFactory, state, write},
};
use domain::{
    Caller, Scope,
    event::Kind,
    id::{SessionId, TenantId},
    session::{Actor, Command, Report, Status, decide},
};
use serde_json::json;
use store::Access;

/// Sessions handled per look.
pub(super) const BATCH: u32 = 200;

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Back in the queue.
    pub requeued: u64,
    /// Failed, because every attempt was lost.
    pub failed: u64,
    /// Expired, because a time limit passed.
    pub expired: u64,
    /// Ended before, and followed up only now.
    pub followed: u64,
}

/// Requeues sessions whose lease ran out; those at their last attempt fail with `lease_exhausted`. Ends those whose time
/// limit passed. Follows up endings that nobody came to follow up.
///
/// Safe to run on many servers at once: each session is decided under its row's lock.
pub async fn sweep(ledger: &Ledger) -> Result<Swept> {
    let mut swept = Swept::default();
    loop {
        let leases = ledger.lease_time();
        let lost = ledger
            .store()
            .read(Access::System, move |conn| {
                Box::pin(async move {
                    let now = leases.now(conn).await?;
                    store::session::leases_lost(conn, now, BATCH).await
                })
            })
            .await?;
        let more = lost.len() == BATCH as usize;
        for (tenant_id, id) in lost {
            match take_back(ledger, tenant_id, id).await? {
                Some(Status::Failed) => swept.failed += 1,
                Some(_) => swept.requeued += 1,
                None => {}
            }
        }
        if !more {
            break;
        }
    }
    swept.expired = expire_overdue(ledger).await?;
    swept.followed = follow_noted(ledger).await?;
    Ok(swept)
}

/// Takes one session back, if its lease is still lost; answers with its new status.
async fn take_back(ledger: &Ledger, tenant_id: TenantId, id: SessionId) -> Result<Option<Status>> {
    let scope = Scope::system(tenant_id);
    let leases = ledger.lease_time();
    let mut change = Change {
        id,
        actor: Actor::Server,
        command: Command::LoseLease,
        caller: Caller::System,
        reason: "the worker's lease ran out".into(),
        minter: EventFactory::new(ledger, ledger.now(), 2),
    };
    ledger
        .write((&scope).into(), move |tx| {
            Box::pin(async move {
                let Some(before) = store::session::find_locked(tx, tenant_id, id).await? else { return Ok(None) };
                // A heartbeat may have come in since.
                let now = leases.now(tx.conn()).await?;
                if before.lease_expires_at().is_none_or(|at| at >= now) {
                    return Ok(None);
                }
                let Ok(transition) = decide(state(&before), change.actor, change.command) else { return Ok(None) };
                let mut events = Vec::new();
                let exhausted = transition.to() == Status::Failed;
                if exhausted {
                    change.reason = format!("the last of {} attempts was lost", before.attempts_max);
                    let metadata = json!({ "code": "lease_exhausted", "attempts": before.attempt });
                    events.push(change.minter.event(Kind::SESSION_ERROR, Some(&change.reason.clone()), &metadata)?);
                }
                let lost = Report::error(change.reason.clone(), "lease_exhausted");
                let report = if exhausted { lost } else { Report::default() };
                let session = write(tx, before, transition, change, events, report).await?;
                Ok(Some(session.status()))
            })
        })
        .await
}
