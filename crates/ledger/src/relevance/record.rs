//! Recording the memories that were considered for a prompt.

use crate::Result;
use chrono::TimeDelta;
use domain::{Timestamp, session::Session};
use store::{WriteTx, relevance::Considered};

/// Days over which earlier uses of a memory are counted.
pub(crate) const USES_DAYS: i64 = 30;

/// Records the candidates of a prompt. `turn` is the sequence of the event that records the block; `ranker` is the name
/// of the formula or model that ordered them.
pub(crate) async fn record_on(
    tx: &mut WriteTx<'_>,
    session: &Session,
    turn: u64,
    (ranker, candidates): (&str, &[Considered]),
    now: Timestamp,
) -> Result<()> {
    let (tenant_id, id) = (session.tenant_id, session.id);
    if candidates.is_empty()
        || session.is_private()
        || store::interaction::forgotten::is_forgotten(tx.conn(), tenant_id, id).await?
    {
        return Ok(());
    }
    let ids: Vec<String> = candidates.iter().map(|one| one.memory_id.clone()).collect();
    let since = now - TimeDelta::days(USES_DAYS);
    let uses = store::relevance::recent_uses(tx.conn(), tenant_id, since, &ids).await?;
    Ok(store::relevance::insert(tx, tenant_id, (id, turn), (ranker, candidates), &uses, now).await?)
}
