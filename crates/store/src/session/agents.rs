//! Agents, as sessions name them. Private sessions are left out.

use crate::engine::{Conn, Error, Result, run, statements};
use domain::{id::TenantId, session::Status};

statements! {
    // One step to the next agent is one look into an index: an agent with many sessions costs as much as one with few.
    const NAMED: &str = "WITH RECURSIVE named (slug) AS (SELECT (SELECT s.agent_slug FROM sessions s WHERE s.tenant_id = $1 \
         AND s.agent_slug IS NOT NULL AND s.private_to IS NULL ORDER BY s.agent_slug LIMIT 1) UNION ALL \
         SELECT (SELECT s.agent_slug FROM sessions s WHERE s.tenant_id = $1 AND s.agent_slug > n.slug \
         AND s.private_to IS NULL ORDER BY s.agent_slug LIMIT 1) FROM named n WHERE n.slug IS NOT NULL) \
         SELECT n.slug FROM named n WHERE n.slug IS NOT NULL LIMIT $2";
    const OPEN: &str = "SELECT agent_slug, status, COUNT(*) FROM sessions WHERE tenant_id = $1 \
         AND status IN ('pending', 'running', 'waiting_human', 'awaiting_tool', 'idle') AND agent_slug IS NOT NULL \
         AND private_to IS NULL GROUP BY agent_slug, status ORDER BY agent_slug, status";
}

/// The number of sessions of an agent in one status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenWork {
    /// Slug of the agent.
    pub agent: String,
    /// Status of the sessions; none of them has ended.
    pub status: Status,
    /// How many there are.
    pub sessions: u64,
}

/// The agents that sessions name, by slug, at most `max`.
pub async fn named_agents(conn: &mut Conn<'_>, tenant_id: TenantId, max: u32) -> Result<Vec<String>> {
    let rows = run!(conn, fetch_all(String,), NAMED, tenant_id.0, i64::from(max))?;
    Ok(rows.into_iter().map(|(slug,)| slug).collect())
}

/// The sessions that have not ended, counted by agent and status.
pub async fn open_work(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<Vec<OpenWork>> {
    let rows = run!(conn, fetch_all(String, String, i64), OPEN, tenant_id.0)?;
    let of = |(agent, status, sessions): (String, String, i64)| {
        let status = Status::parse(&status).ok_or_else(|| Error::inconsistent("sessions", "status", &status))?;
        Ok(OpenWork { agent, status, sessions: sessions.cast_unsigned() })
    };
    rows.into_iter().map(of).collect()
}
