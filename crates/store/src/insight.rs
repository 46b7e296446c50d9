//! Rows for figures: pages of ended sessions, closed gates and answers, newest first.

use crate::engine::{Conn, Page, Result, record, run, statements};
use domain::{
    Timestamp,
    gate::{GateState, Verdict},
    id::{GateId, InteractionId, SessionId, TenantId},
    outcome::Outcome,
    session::Status,
};

statements! {
    // Both walk the primary key: ids are UUIDv7, so that a range of ids is a range of instants of creation. Proposals
    // of the memory writer are sessions of the agent with a gate, and are no work of the agent.
    const SESSIONS: &str = "SELECT id, status, agent_slug, action_slug, usage, completed_at AS ended_at FROM sessions \
         WHERE tenant_id = $1 AND id >= $2 AND id < $3 AND session_type = 'agent' AND completed_at IS NOT NULL AND private_to IS NULL \
         AND (source IS NULL OR source <> 'memory') ORDER BY id DESC LIMIT $4";
    const GATES: &str = "SELECT g.id, g.state, g.outcome, g.agent_slug, a.slug AS action_slug, g.opened_at, g.settled_at AS closed_at FROM gates g \
         LEFT JOIN actions a ON a.tenant_id = g.tenant_id AND a.id = g.action_id \
         WHERE g.tenant_id = $1 AND g.id >= $2 AND g.id < $3 AND g.settled_at IS NOT NULL AND g.kind <> 'memory' \
         AND NOT EXISTS (SELECT 1 FROM sessions s \
         WHERE s.tenant_id = g.tenant_id AND s.id = g.session_id AND s.private_to IS NOT NULL) ORDER BY g.id DESC LIMIT $4";

    const ANSWERS: &str = "SELECT i.id, i.recorded_at AS at, s.agent_slug, s.action_slug, (SELECT o.outcome FROM interaction_outcomes o \
           WHERE o.tenant_id = i.tenant_id AND o.interaction_id = i.id ORDER BY o.recorded_at DESC, o.id DESC LIMIT 1) AS outcome \
         FROM interactions i JOIN sessions s ON s.tenant_id = i.tenant_id AND s.id = i.session_id \
         WHERE i.tenant_id = $1 AND i.id >= $2 AND i.id < $3 AND (s.source IS NULL OR s.source <> 'memory') \
         ORDER BY i.id DESC LIMIT $4";

    // A draft that was left or cancelled is no run.
    const TOOL_RUNS: &str = "SELECT id, status, agent_slug, usage, started_at, completed_at AS ended_at FROM sessions \
         WHERE tenant_id = $1 AND id >= $2 AND id < $3 AND session_type = 'tool' AND completed_at IS NOT NULL AND private_to IS NULL \
         AND agent_slug IS NOT NULL AND (source IS NULL OR source <> 'tool-test') \
         AND (queued_at IS NOT NULL OR started_at IS NOT NULL) ORDER BY id DESC LIMIT $4";
}

record! {
    /// A captured answer of an agent.
    #[derive(Debug, Clone)]
    pub struct Answer of "interactions" {
        /// Id of the interaction.
        pub id: InteractionId,
        /// Time the answer was complete (UTC).
        pub at: Timestamp,
        /// Slug of the session's agent.
        pub agent_slug: Option<String>,
        /// Slug of the session's action.
        pub action_slug: Option<String>,
        /// Outcome inferred from the next message.
        pub outcome: Option<Outcome>,
    }
}

record! {
    /// An agent session that ended.
    #[derive(Debug, Clone)]
    pub struct EndedSession of "sessions" {
        /// Id of the session.
        pub id: SessionId,
        /// Final status.
        pub status: Status,
        /// Agent that ran it; `None` if no agent is named.
        pub agent_slug: Option<String>,
        /// Action that it executed; `None` for a session without one.
        pub action_slug: Option<String>,
        /// Usage that its worker reported, as JSON.
        pub usage: Option<String>,
        /// Time it ended (UTC).
        pub ended_at: Timestamp,
    }
}

record! {
    /// What the figures of tools are counted from.
    #[derive(Debug, Clone)]
    pub struct EndedToolSession of "sessions" {
        /// Id of the session.
        pub id: SessionId,
        /// Final status.
        pub status: Status,
        /// Agent that ran it, which names the tool.
        pub agent_slug: String,
        /// Usage that its worker reported, as JSON.
        pub usage: Option<String>,
        /// Time it was first claimed (UTC); `None` if it never was.
        pub started_at: Option<Timestamp>,
        /// Time it ended (UTC).
        pub ended_at: Timestamp,
    }
}

record! {
    /// A gate that was decided, expired or was withdrawn, with the times that the waiting time is computed from.
    #[derive(Debug, Clone)]
    pub struct ClosedGate of "gates" {
        /// Id of the gate.
        pub id: GateId,
        /// Final state.
        pub state: GateState,
        /// The verdict, if it was decided.
        pub outcome: Option<Verdict>,
        /// Slug of the session's agent.
        pub agent_slug: Option<String>,
        /// Slug of the session's action.
        pub action_slug: Option<String>,
        /// Time it was opened (UTC).
        pub opened_at: Timestamp,
        /// Time its decision took effect, or it was closed without one (UTC).
        pub closed_at: Timestamp,
    }
}

/// Ended agent sessions with ids in `from..before`.
pub async fn sessions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    from: SessionId,
    before: SessionId,
    limit: u32,
) -> Result<Page<EndedSession>> {
    let more = i64::from(limit) + 1;
    let rows = run!(conn, fetch_all EndedSession, SESSIONS, tenant_id.0, from.0, before.0, more)?;
    Ok(Page::of(rows, limit))
}

/// Closed gates with ids in `from..before`.
pub async fn gates(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    from: GateId,
    before: GateId,
    limit: u32,
) -> Result<Page<ClosedGate>> {
    let more = i64::from(limit) + 1;
    let rows = run!(conn, fetch_all ClosedGate, GATES, tenant_id.0, from.0, before.0, more)?;
    Ok(Page::of(rows, limit))
}

/// Answers with ids in `from..before`.
pub async fn answers(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    from: InteractionId,
    before: InteractionId,
    limit: u32,
) -> Result<Page<Answer>> {
    let more = i64::from(limit) + 1;
    let rows = run!(conn, fetch_all Answer, ANSWERS, tenant_id.0, from.0, before.0, more)?;
    Ok(Page::of(rows, limit))
}

/// Ended sessions of tools with ids in `from..before`.
pub async fn tool_runs(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    from: SessionId,
    before: SessionId,
    limit: u32,
) -> Result<Page<EndedToolSession>> {
    let more = i64::from(limit) + 1;
    let rows = run!(conn, fetch_all EndedToolSession, TOOL_RUNS, tenant_id.0, from.0, before.0, more)?;
    Ok(Page::of(rows, limit))
}
