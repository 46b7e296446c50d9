//! Rows of `memory_denials`, and the proposals that wait for a decision.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    gate::Task,
    id::{GateId, TenantId},
};

/// Most denied lines that are read for a run. The newest count.
const DENIALS_MAX: i64 = 5_000;
/// Most waiting proposals that are read for a run.
const PENDING_MAX: i64 = 500;

statements! {
    const DENY: &str = "INSERT INTO memory_denials (tenant_id, agent, line, path, gate_id, reason, denied_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (tenant_id, agent, line) DO NOTHING";
    const DENIED: &str =
        "SELECT line FROM memory_denials WHERE tenant_id = $1 AND agent = $2 ORDER BY denied_at DESC LIMIT $3";
    const PENDING: &str = "SELECT task FROM gates WHERE tenant_id = $1 AND agent_slug = $2 AND kind = 'memory' \
         AND state IN ('open', 'held') ORDER BY id DESC LIMIT $3";
}

record! {
    struct LineRow of "memory_denials" { line: String }
}
record! {
    struct TaskRow of "gates" { task: String }
}

/// A line of a proposal that a reviewer denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denial<'a> {
    /// The gate of the proposal.
    pub gate_id: GateId,
    /// Path of the document that the proposal changes.
    pub path: &'a str,
    /// A new line, or one that would have been removed, as `domain::memory_writer::dedupe::denials` returns it.
    pub line: &'a str,
    /// The reviewer's reason; empty without one.
    pub reason: &'a str,
}

/// Records that a reviewer denied a line. A line that was denied before keeps its first reason.
pub async fn deny(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    denial: Denial<'_>,
    at: Timestamp,
) -> Result<()> {
    let Denial { gate_id, path, line, reason } = denial;
    run!(tx.conn(), execute, DENY, tenant_id.0, agent, line, path, gate_id.0, reason, to_micros(at))?;
    Ok(())
}

/// The lines that reviewers of an agent denied.
pub async fn denied(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str) -> Result<Vec<String>> {
    let rows = run!(conn, fetch_all LineRow, DENIED, tenant_id.0, agent, DENIALS_MAX)?;
    Ok(rows.into_iter().map(|row| row.line).collect())
}

/// The proposals of an agent that wait for a decision.
pub async fn pending(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str) -> Result<Vec<Task>> {
    let rows = run!(conn, fetch_all TaskRow, PENDING, tenant_id.0, agent, PENDING_MAX)?;
    Ok(rows.into_iter().filter_map(|row| Task::parse(&row.task).ok()).collect())
}
