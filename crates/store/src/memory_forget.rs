//! Rows of `memory_forgotten` and `memory_forget_requests`, and the proposals and denied lines in which a person is
//! looked for.

use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::{from_micros, to_micros},
    gate::Task,
    id::{GateId, SessionId, TenantId, UserId},
};
use uuid::Uuid;

/// Most people of a workspace who are forgotten at a time.
const MARKS_MAX: i64 = 10_000;

statements! {
    const INSERT: &str = "INSERT INTO memory_forgotten (tenant_id, id, mark, author, begun_at, documents, lines, proposals, denials) \
         VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0)";
    const FINISH: &str = "UPDATE memory_forgotten SET finished_at = $3, documents = $4, lines = $5, proposals = $6, denials = $7 \
         WHERE tenant_id = $1 AND id = $2";
    const RUNNING: &str =
        "SELECT COUNT(*) FROM memory_forgotten WHERE tenant_id = $1 AND finished_at IS NULL AND begun_at > $2";
    const LIFT: &str = "UPDATE memory_forgotten SET lifted_at = $3, lifted_by = $4 \
         WHERE tenant_id = $1 AND mark = $2 AND lifted_at IS NULL";
    const MARKS: &str =
        "SELECT DISTINCT mark FROM memory_forgotten WHERE tenant_id = $1 AND lifted_at IS NULL LIMIT $2";
    const PROPOSALS: &str = "SELECT g.id, g.session_id, g.agent_slug, g.state, g.task, s.input FROM gates g \
         JOIN sessions s ON s.tenant_id = g.tenant_id AND s.id = g.session_id \
         WHERE g.tenant_id = $1 AND g.kind = 'memory' AND (g.id > $2 OR $2 IS NULL) \
         AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = g.tenant_id AND e.session_id = g.session_id \
         AND e.finished_at IS NOT NULL) ORDER BY g.id LIMIT $3";
    const DENIALS: &str = "SELECT agent, line, path, gate_id, reason FROM memory_denials WHERE tenant_id = $1 \
         AND ((agent, line) > ($2, $3) OR $2 IS NULL) ORDER BY agent, line LIMIT $4";
    const ASK: &str = "INSERT INTO memory_forget_requests (tenant_id, user_id, asked_at) VALUES ($1, $2, $3) \
         ON CONFLICT (tenant_id, user_id) DO NOTHING";
    const REQUESTS: &str = "SELECT user_id, asked_at FROM memory_forget_requests WHERE tenant_id = $1 \
         AND (user_id = $2 OR $2 IS NULL) ORDER BY asked_at, user_id LIMIT $3";
    const END_REQUEST: &str = "DELETE FROM memory_forget_requests WHERE tenant_id = $1 AND user_id = $2";
    const FORGET_DENIAL: &str = "DELETE FROM memory_denials WHERE tenant_id = $1 AND agent = $2 AND line = $3";
}

/// What forgetting a person erased.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of documents that were erased or lost lines.
    pub documents: u64,
    /// Number of lines in their newest versions.
    pub lines: u64,
    /// Number of proposals, decided or not.
    pub proposals: u64,
    /// Number of denied lines.
    pub denials: u64,
}

/// Records that forgetting a person begins. The mark identifies the person and does not name them.
pub async fn begin(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (id, mark): (Uuid, Digest),
    (author, at): (&str, Timestamp),
) -> Result<()> {
    run!(tx.conn(), execute, INSERT, tenant_id.0, id, mark.0.to_vec(), author, to_micros(at))?;
    Ok(())
}

/// Records what was erased.
pub async fn finish(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: Uuid, counts: Counts, at: Timestamp) -> Result<()> {
    let Counts { documents, lines, proposals, denials } = counts;
    let (documents, lines) = (documents.cast_signed(), lines.cast_signed());
    let (proposals, denials) = (proposals.cast_signed(), denials.cast_signed());
    run!(tx.conn(), execute, FINISH, tenant_id.0, id, to_micros(at), documents, lines, proposals, denials)?;
    Ok(())
}

/// Ends that a person is forgotten. Returns whether they were.
pub async fn lift(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    mark: Digest,
    (author, at): (&str, Timestamp),
) -> Result<bool> {
    Ok(run!(tx.conn(), execute, LIFT, tenant_id.0, mark.0.to_vec(), to_micros(at), author)? > 0)
}

type One<T> = (T,);

/// Whether a person is being forgotten at the moment, which began after this time.
pub async fn is_running(conn: &mut Conn<'_>, tenant_id: TenantId, since: Timestamp) -> Result<bool> {
    let (running,) = run!(conn, fetch_one One<i64>, RUNNING, tenant_id.0, to_micros(since))?;
    Ok(running > 0)
}

/// The marks of the people who are forgotten.
pub async fn marks(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<Vec<Digest>> {
    let rows = run!(conn, fetch_all One<Vec<u8>>, MARKS, tenant_id.0, MARKS_MAX)?;
    let bad = |bytes: &[u8]| Error::inconsistent("memory_forgotten", "mark", bytes.len());
    rows.into_iter().map(|(bytes,)| Digest::from_slice(&bytes).ok_or_else(|| bad(&bytes))).collect()
}

/// A member who asks to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForgetRequestRecord {
    /// Who asks.
    pub user_id: UserId,
    /// Time of the request (UTC).
    pub asked_at: Timestamp,
}

/// Records that a member asks to be forgotten. An earlier request stays as it is.
pub async fn ask(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, ASK, tenant_id.0, user_id.0, to_micros(at))?;
    Ok(())
}

/// The requests that wait, the oldest first; only that of `user_id` if one is given.
pub async fn requests(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    user_id: Option<UserId>,
    limit: u32,
) -> Result<Vec<ForgetRequestRecord>> {
    let user_id = user_id.map(|user_id| user_id.0);
    let rows = run!(conn, fetch_all(Uuid, i64), REQUESTS, tenant_id.0, user_id, i64::from(limit))?;
    let record = |(user_id, at)| ForgetRequestRecord { user_id: UserId(user_id), asked_at: from_micros(at) };
    Ok(rows.into_iter().map(record).collect())
}

/// Removes the request of a member: it is answered or withdrawn.
pub async fn end_request(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId) -> Result<()> {
    run!(tx.conn(), execute, END_REQUEST, tenant_id.0, user_id.0)?;
    Ok(())
}

/// A proposal, decided or not, whose text is not erased.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalRecord {
    /// Identifies the gate.
    pub gate_id: GateId,
    /// The session that waits for the decision.
    pub session_id: SessionId,
    /// Slug of the agent.
    pub agent: String,
    /// Whether it waits for a decision or for the decision to take effect.
    pub waits: bool,
    /// What is proposed.
    pub task: Task,
    /// The turns that it comes from, as JSON text.
    pub input: Option<String>,
}

record! {
    struct Row of "gates" {
        id: GateId,
        session_id: SessionId,
        agent_slug: Option<String>,
        state: String,
        task: String,
        input: Option<String>,
    }
}

/// Proposals by id, after this one.
pub async fn proposals(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    after: Option<GateId>,
    limit: u32,
) -> Result<Vec<ProposalRecord>> {
    let after = after.map(|id| id.0);
    let rows = run!(conn, fetch_all Row, PROPOSALS, tenant_id.0, after, i64::from(limit))?;
    let record = |row: Row| {
        let task = Task::parse(&row.task).map_err(|error| Error::inconsistent("gates", "task", error.to_string()))?;
        Ok(ProposalRecord {
            gate_id: row.id,
            session_id: row.session_id,
            agent: row.agent_slug.unwrap_or_default(),
            waits: matches!(row.state.as_str(), "open" | "held"),
            task,
            input: row.input,
        })
    };
    rows.into_iter().map(record).collect()
}

/// A line that a reviewer denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenialRecord {
    /// Slug of the agent.
    pub agent: String,
    /// The line in the form in which lines are compared.
    pub line: String,
    /// Document for which it was proposed.
    pub path: String,
    /// Gate of the proposal with the line.
    pub gate_id: GateId,
    /// Why it was denied.
    pub reason: String,
}

record! {
    struct DenialRow of "memory_denials" {
        agent: String,
        line: String,
        path: String,
        gate_id: Uuid,
        reason: String,
    }
}

/// Denied lines of all agents, after this agent and line.
pub async fn denials(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    after: Option<(&str, &str)>,
    limit: u32,
) -> Result<Vec<DenialRecord>> {
    let (agent, line) = (after.map(|after| after.0), after.map(|after| after.1));
    let rows = run!(conn, fetch_all DenialRow, DENIALS, tenant_id.0, agent, line, i64::from(limit))?;
    let record = |row: DenialRow| {
        let DenialRow { agent, line, path, gate_id, reason } = row;
        DenialRecord { agent, line, path, gate_id: GateId(gate_id), reason }
    };
    Ok(rows.into_iter().map(record).collect())
}

/// Deletes a denied line.
pub async fn forget_denial(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, line: &str) -> Result<()> {
    run!(tx.conn(), execute, FORGET_DENIAL, tenant_id.0, agent, line)?;
    Ok(())
}
