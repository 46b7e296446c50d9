//! Ends human sessions that were left open.

use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
};
use chrono::TimeDelta;
use domain::{
    Caller, Scope, Timestamp,
    human::SOURCE,
    id::{SessionId, TenantId},
    limit::WORKING_HOURS_MAX,
    session::{Actor, Command, Report, decide},
};
use store::Access;

/// Largest number of sessions that one read returns.
const BATCH: u32 = 200;
/// Name of the row in `leases`.
const LEASE: &str = "human-sweep";
/// Duration of a server's lease on the sweep. Other servers do not sweep until it is over.
const LEASE_TIME: TimeDelta = TimeDelta::minutes(5);

/// Abandons human sessions that have been open for 12 hours. Returns how many, or `None` if another server holds
/// the lease.
pub async fn sweep(ledger: &Ledger) -> Result<Option<u64>> {
    if !lease(ledger).await? {
        return Ok(None);
    }
    let mut swept = 0;
    loop {
        let begun_until = ledger.now() - TimeDelta::hours(WORKING_HOURS_MAX);
        let open = ledger
            .store()
            .read(Access::System, async move |conn| store::human::left_open(conn, begun_until, BATCH).await)
            .await?;
        let more = open.len() == BATCH as usize;
        for (tenant_id, id) in open {
            swept += u64::from(abandon(ledger, tenant_id, id, begun_until).await?);
        }
        if !more {
            return Ok(Some(swept));
        }
    }
}

async fn lease(ledger: &Ledger) -> Result<bool> {
    let (holder, leases) = (ledger.instance().to_owned(), ledger.lease_time());
    ledger
        .write(Access::System, async move |tx| {
            let now = leases.now(tx.conn()).await?;
            Ok(store::lease::take(tx, LEASE, &holder, now, now + LEASE_TIME).await?)
        })
        .await
}

/// Abandons one session if it is still open. Returns whether it was.
async fn abandon(ledger: &Ledger, tenant_id: TenantId, id: SessionId, begun_until: Timestamp) -> Result<bool> {
    let scope = Scope::system(tenant_id);
    let change = Change {
        id,
        actor: Actor::Server,
        command: Command::Abandon,
        caller: Caller::System,
        reason: format!("left open for {WORKING_HOURS_MAX} hours"),
        minter: Minter::new(ledger, ledger.now()),
    };
    ledger
        .write((&scope).into(), async move |tx| {
            let Some(before) = store::session::find_locked(tx, tenant_id, id).await? else { return Ok(false) };
            // The person may have stopped the session since it was read.
            let open = before.source.as_deref() == Some(SOURCE)
                && before.started_at.is_some_and(|started_at| started_at <= begun_until);
            let Ok(transition) = decide(state(&before), change.actor, change.command) else { return Ok(false) };
            if !open {
                return Ok(false);
            }
            write(tx, before, transition, change, Vec::new(), Report::default()).await?;
            Ok(true)
        })
        .await
}
