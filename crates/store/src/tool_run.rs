//! Rows of `tool_private_inputs`, and the runs of tools that wait for a server.

use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::id::{SessionId, TenantId};
use uuid::Uuid;

statements! {
    const INSERT: &str = "INSERT INTO tool_private_inputs (tenant_id, session_id, sealed) VALUES ($1, $2, $3)";
    const FIND: &str = "SELECT sealed FROM tool_private_inputs WHERE tenant_id = $1 AND session_id = $2";
    const DELETE: &str = "DELETE FROM tool_private_inputs WHERE tenant_id = $1 AND session_id = $2";
    // The conditions are those of the indexes `sessions_http_runs` and `sessions_mcp_runs`.
    const WAITING: &str = "SELECT tenant_id, agent_slug FROM sessions \
         WHERE status = 'pending' AND substr(agent_slug, 1, 5) = 'http:' \
         UNION SELECT tenant_id, agent_slug FROM sessions \
         WHERE status = 'pending' AND substr(agent_slug, 1, 4) = 'mcp:' ORDER BY tenant_id, agent_slug LIMIT $1";
    const ENDED: &str = "SELECT COUNT(*), COUNT(CASE WHEN status <> 'completed' THEN 1 END) FROM (SELECT status FROM sessions \
         WHERE tenant_id = $1 AND agent_slug = $2 AND session_type = 'tool' AND private_to IS NULL \
         AND status IN ('completed', 'failed', 'expired') AND (source IS NULL OR source <> 'tool-test') \
         ORDER BY id DESC LIMIT $3) AS newest";
}

type Sealed = (Vec<u8>,);

/// Stores the private values of a run's input, which are encrypted.
pub async fn insert_private(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId, sealed: &[u8]) -> Result<()> {
    run!(tx.conn(), execute, INSERT, tenant_id.0, id.0, sealed)?;
    Ok(())
}

/// The private values of a run's input, encrypted; `None` if it has none, or has ended.
pub async fn find_private(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Option<Vec<u8>>> {
    Ok(run!(conn, fetch_optional Sealed, FIND, tenant_id.0, id.0)?.map(|(sealed,)| sealed))
}

/// Deletes the private values of a run's input.
pub async fn delete_private(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, DELETE, tenant_id.0, id.0)?;
    Ok(())
}

/// Workspaces and agents of queued sessions that servers run, at most `max` pairs.
pub async fn waiting_for_server(conn: &mut Conn<'_>, max: u32) -> Result<Vec<(TenantId, String)>> {
    let rows = run!(conn, fetch_all(Uuid, String), WAITING, i64::from(max))?;
    Ok(rows.into_iter().map(|(tenant_id, agent)| (TenantId(tenant_id), agent)).collect())
}

/// Counts the newest runs of an agent that completed, failed or expired, at most `max`: all of these, and those that
/// did not complete. Tests and runs that others cannot see are left out.
pub async fn ended(conn: &mut Conn<'_>, tenant_id: TenantId, agent_slug: &str, max: u32) -> Result<(u64, u64)> {
    let (ended, failed) = run!(conn, fetch_one(i64, i64), ENDED, tenant_id.0, agent_slug, i64::from(max))?;
    Ok((ended.cast_unsigned(), failed.cast_unsigned()))
}
