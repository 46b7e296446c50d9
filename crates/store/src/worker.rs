//! Rows of `workers`: when each worker was last seen.

use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::TenantId,
};

statements! {
    const SEE: &str = "INSERT INTO workers (tenant_id, name, agent, seen_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (tenant_id, name, agent) DO UPDATE SET seen_at = excluded.seen_at \
         WHERE workers.seen_at < excluded.seen_at";
    const SEE_AGAIN: &str = "UPDATE workers SET seen_at = $3 WHERE tenant_id = $1 AND name = $2 AND seen_at < $3";
    const PRUNE: &str = "DELETE FROM workers WHERE tenant_id = $1 AND seen_at < $2";
    const COUNT: &str = "SELECT COUNT(*) FROM workers WHERE tenant_id = $1";
    const BY_AGENT: &str = "SELECT agent, COUNT(CASE WHEN seen_at >= $2 THEN 1 END), MAX(seen_at) FROM workers \
         WHERE tenant_id = $1 GROUP BY agent ORDER BY agent";
}

/// Records that a worker that takes sessions of this agent was seen. An empty agent means any agent.
pub async fn see(tx: &mut WriteTx<'_>, tenant_id: TenantId, (name, agent): (&str, &str), at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, SEE, tenant_id.0, name, agent, to_micros(at))?;
    Ok(())
}

/// Records that a worker was seen, for all agents that it takes sessions of.
pub async fn see_again(tx: &mut WriteTx<'_>, tenant_id: TenantId, name: &str, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, SEE_AGAIN, tenant_id.0, name, to_micros(at))?;
    Ok(())
}

/// Removes the rows of workers that were last seen before this time. Returns how many rows are left.
pub async fn prune(tx: &mut WriteTx<'_>, tenant_id: TenantId, before: Timestamp) -> Result<u64> {
    run!(tx.conn(), execute, PRUNE, tenant_id.0, to_micros(before))?;
    let (rows,) = run!(tx.conn(), fetch_one(i64,), COUNT, tenant_id.0)?;
    Ok(rows.cast_unsigned())
}

/// How many workers of an agent are connected, and when one was seen last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentWorkers {
    /// Slug of the agent; empty for workers that take sessions of any agent.
    pub agent: String,
    /// Number of those that were seen lately.
    pub connected: u64,
    /// When one of them was last seen (UTC).
    pub seen_at: Timestamp,
}

/// The workers by agent. Those that were seen since this time count as connected.
pub async fn by_agent(conn: &mut Conn<'_>, tenant_id: TenantId, since: Timestamp) -> Result<Vec<AgentWorkers>> {
    let rows = run!(conn, fetch_all(String, i64, i64), BY_AGENT, tenant_id.0, to_micros(since))?;
    let of = |(agent, connected, seen_at): (String, i64, i64)| AgentWorkers {
        agent,
        connected: connected.cast_unsigned(),
        seen_at: from_micros(seen_at),
    };
    Ok(rows.into_iter().map(of).collect())
}
