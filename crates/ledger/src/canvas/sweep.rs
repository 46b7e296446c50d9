//! Ends canvases that no one changed for a long time.

use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
};
use chrono::TimeDelta;
use domain::{
    Caller, Scope, Timestamp,
    count::counted,
    id::{SessionId, TenantId},
    session::{Actor, Command, Report, decide},
};
use store::Access;

/// Largest number of canvases that one read returns.
const BATCH: u32 = 200;

/// Abandons canvases that no one changed for `left_for`. Returns how many. Several servers can do this at once, because
/// each canvas is decided under the lock of its session.
pub async fn sweep(ledger: &Ledger, left_for: TimeDelta) -> Result<u64> {
    let mut swept = 0;
    loop {
        let until = ledger.now() - left_for;
        let left = ledger
            .store()
            .read(Access::System, async move |conn| store::canvas::left(conn, until, BATCH).await)
            .await?;
        let mut abandoned = 0;
        for (tenant_id, id) in &left {
            abandoned += u64::from(abandon(ledger, *tenant_id, *id, (until, left_for)).await?);
        }
        swept += abandoned;
        if abandoned == 0 || left.len() < BATCH as usize {
            return Ok(swept);
        }
    }
}

/// Abandons one canvas if no one changed it meanwhile. Returns whether it did.
async fn abandon(
    ledger: &Ledger,
    tenant_id: TenantId,
    id: SessionId,
    (until, left_for): (Timestamp, TimeDelta),
) -> Result<bool> {
    let scope = Scope::system(tenant_id);
    let days = left_for.num_days().unsigned_abs();
    let change = Change {
        id,
        actor: Actor::Server,
        command: Command::Abandon,
        caller: Caller::System,
        reason: format!("not changed for {}", counted(days, "day")),
        minter: Minter::new(ledger, ledger.now()),
    };
    ledger
        .write((&scope).into(), async move |tx| {
            let Some(before) = store::session::find_locked(tx, tenant_id, id).await? else { return Ok(false) };
            let canvas = store::canvas::find(tx.conn(), tenant_id, id).await?;
            let Ok(transition) = decide(state(&before), change.actor, change.command) else { return Ok(false) };
            if canvas.is_none_or(|canvas| canvas.changed_at > until) {
                return Ok(false);
            }
            write(tx, before, transition, change, Vec::new(), Report::default()).await?;
            Ok(true)
        })
        .await
}
