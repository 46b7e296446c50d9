//! Finds sessions that a worker may claim.

use super::{Row, session_select};
use crate::{
    engine::{Conn, Result, statements},
    lease::LeaseTime,
    transaction::WriteTx,
};
use domain::{Timestamp, clock::from_micros, id::TenantId, session::Session};
use sqlx::{FromRow as _, Row as _};

// The clock comes with the sessions, because a claim would wait for a statement of its own. Rows that others hold are
// skipped, so no time passes between the two.
macro_rules! with_clock {
    ($claimable:expr) => {
        concat!(
            "WITH c AS (",
            $claimable,
            ") SELECT c.*, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint) AS clock \
             FROM c ORDER BY c.queued_at, c.id"
        )
    };
}

statements! {
    const CLAIMABLE_SQLITE: &str =
        session_select!("tenant_id = $1 AND status = 'pending' AND agent_slug = $2 ORDER BY queued_at, id LIMIT $3");
    const CLAIMABLE_POSTGRES: &str = with_clock!(session_select!(
        "tenant_id = $1 AND status = 'pending' AND agent_slug = $2 ORDER BY queued_at, id LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED"
    ));
    // Runs of tools are only for those who name the tool: no slug of an agent has a colon.
    const CLAIMABLE_ANY_SQLITE: &str = session_select!(
        "tenant_id = $1 AND status = 'pending' AND instr(coalesce(agent_slug, ''), ':') = 0 \
         ORDER BY queued_at, id LIMIT $2"
    );
    const CLAIMABLE_ANY_POSTGRES: &str = with_clock!(session_select!(
        "tenant_id = $1 AND status = 'pending' AND strpos(coalesce(agent_slug, ''), ':') = 0 \
         ORDER BY queued_at, id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED"
    ));
}

/// A session that a worker may claim, and the time by the clock of leases at which it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimable {
    /// The session, locked for the rest of the transaction.
    pub session: Session,
    /// From when its lease counts.
    pub found_at: Timestamp,
}

/// The oldest claimable sessions of one agent, or of any agent, without runs of tools; locked, and skipping those that
/// others hold.
///
/// # Errors
/// [`Error::Database`](crate::Error::Database) for [`LeaseTime::Database`] on SQLite.
pub async fn claimable(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent_slug: Option<&str>,
    max: u32,
    clock: LeaseTime,
) -> Result<Vec<Claimable>> {
    #[cfg(feature = "planted-bugs")]
    if let Some(session) = double_claim(tx).await? {
        return Ok(vec![Claimable { session, found_at: clock.now(tx.conn()).await? }]);
    }
    let max = i64::from(max);
    let rows: Vec<(Row, Option<Timestamp>)> = match (tx.conn(), agent_slug) {
        (Conn::Sqlite(c), agent) => {
            let rows = match agent {
                Some(agent) => c.fetch_all::<Row>(CLAIMABLE_SQLITE, &[&tenant_id.0, &agent, &max])?,
                None => c.fetch_all::<Row>(CLAIMABLE_ANY_SQLITE, &[&tenant_id.0, &max])?,
            };
            rows.into_iter().map(|row| (row, None)).collect()
        }
        (Conn::Postgres(c), agent) => {
            let query = match agent {
                Some(agent) => sqlx::query(CLAIMABLE_POSTGRES).bind(tenant_id.0).bind(agent).bind(max),
                None => sqlx::query(CLAIMABLE_ANY_POSTGRES).bind(tenant_id.0).bind(max),
            };
            let mut found = Vec::new();
            for row in query.fetch_all(&mut **c).await? {
                found.push((Row::from_row(&row)?, Some(from_micros(row.try_get("clock")?))));
            }
            found
        }
    };
    let mut found = Vec::with_capacity(rows.len());
    for (row, at) in rows {
        let found_at = match (clock, at) {
            (LeaseTime::Database, Some(at)) => at,
            _ => clock.now(tx.conn()).await?,
        };
        found.push(Claimable { session: Session::try_from(row)?, found_at });
    }
    Ok(found)
}

/// The planted bug: now and then hands out a session that someone holds, as if it were still queued.
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
