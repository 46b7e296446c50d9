//! Abandons drafts that were left.

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

/// Largest number of drafts that one read returns.
const BATCH: u32 = 200;

/// Abandons drafts that were not saved for `left_for`. Returns how many. Several servers can sweep at the same time:
/// each draft is decided under the lock of its session.
pub async fn sweep(ledger: &Ledger, left_for: TimeDelta) -> Result<u64> {
    let mut swept = 0;
    loop {
        let saved_until = ledger.now() - left_for;
        let left = ledger
            .store()
            .read(Access::System, async move |conn| store::tool_draft::left(conn, saved_until, BATCH).await)
            .await?;
        let more = left.len() == BATCH as usize;
        let before = swept;
        for (tenant_id, id) in left {
            swept += u64::from(abandon(ledger, tenant_id, id, saved_until, left_for).await?);
        }
        // If none of the batch could be abandoned, another read would return the same batch.
        if !more || swept == before {
            return Ok(swept);
        }
    }
}

/// Abandons one draft if it is still open. Returns whether it was.
async fn abandon(
    ledger: &Ledger,
    tenant_id: TenantId,
    id: SessionId,
    saved_until: Timestamp,
    left_for: TimeDelta,
) -> Result<bool> {
    let scope = Scope::system(tenant_id);
    let hours = left_for.num_hours().unsigned_abs();
    let change = Change {
        id,
        actor: Actor::Server,
        command: Command::Leave,
        caller: Caller::System,
        reason: format!("left for {} without being run", counted(hours, "hour")),
        minter: Minter::new(ledger, ledger.now()),
    };
    ledger
        .write((&scope).into(), async move |tx| {
            let Some(before) = store::session::find_locked(tx, tenant_id, id).await? else { return Ok(false) };
            let draft = store::tool_draft::find(tx.conn(), tenant_id, id).await?;
            // The person may have saved or run it since it was read.
            let is_left = draft.is_some_and(|draft| draft.saved_at <= saved_until);
            let Ok(transition) = decide(state(&before), change.actor, change.command) else { return Ok(false) };
            if !is_left {
                return Ok(false);
            }
            write(tx, before, transition, change, Vec::new(), Report::default()).await?;
            Ok(true)
        })
        .await
}
