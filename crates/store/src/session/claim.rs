//! Finds sessions that a worker may claim.

use super::{Row, session_select};
use crate::{
    engine::{Conn, Result, Texts},
    transaction::WriteTx,
};
use domain::{id::TenantId, session::Session};

const CLAIMABLE_SQLITE: &str =
    session_select!("tenant_id = $1 AND status = 'pending' AND agent_slug = $2 ORDER BY queued_at, id LIMIT $3");
const CLAIMABLE_POSTGRES: &str = session_select!(
    "tenant_id = $1 AND status = 'pending' AND agent_slug = $2 ORDER BY queued_at, id LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED"
);
const CLAIMABLE_ANY_SQLITE: &str =
    session_select!("tenant_id = $1 AND status = 'pending' ORDER BY queued_at, id LIMIT $2");
const CLAIMABLE_ANY_POSTGRES: &str = session_select!(
    "tenant_id = $1 AND status = 'pending' ORDER BY queued_at, id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED"
);

pub(crate) const SQLITE_SQL: Texts = &[
    ("session::claim::CLAIMABLE_SQLITE", CLAIMABLE_SQLITE),
    ("session::claim::CLAIMABLE_ANY_SQLITE", CLAIMABLE_ANY_SQLITE),
];
pub(crate) const POSTGRES_SQL: Texts = &[
    ("session::claim::CLAIMABLE_POSTGRES", CLAIMABLE_POSTGRES),
    ("session::claim::CLAIMABLE_ANY_POSTGRES", CLAIMABLE_ANY_POSTGRES),
];

/// The oldest claimable sessions of one agent, or of any agent; locked, and skipping those that others hold.
pub async fn claimable(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent_slug: Option<&str>,
    max: u32,
) -> Result<Vec<Session>> {
    #[cfg(feature = "planted-bugs")]
    if let Some(again) = double_claim(tx).await? {
        return Ok(vec![again]);
    }
    let max = i64::from(max);
    let rows = match (tx.conn(), agent_slug) {
        (Conn::Sqlite(c), Some(agent)) => c.fetch_all::<Row>(CLAIMABLE_SQLITE, &[&tenant_id.0, &agent, &max])?,
        (Conn::Sqlite(c), None) => c.fetch_all::<Row>(CLAIMABLE_ANY_SQLITE, &[&tenant_id.0, &max])?,
        (Conn::Postgres(c), Some(agent)) => {
            sqlx::query_as::<_, Row>(CLAIMABLE_POSTGRES)
                .bind(tenant_id.0)
                .bind(agent)
                .bind(max)
                .fetch_all(&mut **c)
                .await?
        }
        (Conn::Postgres(c), None) => {
            sqlx::query_as::<_, Row>(CLAIMABLE_ANY_POSTGRES).bind(tenant_id.0).bind(max).fetch_all(&mut **c).await?
        }
    };
    rows.into_iter().map(Session::try_from).collect()
}

/// The planted bug: now and then hands out a session that somebody holds, as if it were still queued.
#[cfg(feature = "planted-bugs")]
async fn double_claim(tx: &mut WriteTx<'_>) -> Result<Option<Session>> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static CALLS: AtomicU64 = AtomicU64::new(0);
    const HELD: &str =
        session_select!("status = 'running' AND agent_slug IS NOT NULL ORDER BY updated_at DESC LIMIT 1");
    let planted = crate::engine::planted::is(crate::engine::planted::Bug::DoubleClaim);
    if !planted || CALLS.fetch_add(1, Ordering::Relaxed) % 5 != 4 {
        return Ok(None);
    }
    let held = super::record(crate::engine::run!(tx.conn(), fetch_optional Row, HELD)?)?;
    Ok(held.map(|held| Session {
        state: domain::session::State::Pending { deadline_at: None },
        attempt: held.attempt.saturating_sub(1),
        ..held
    }))
}
