//! Rows of `memory_agents`: the totals of each agent's memory. Their lock puts the writes of an agent in order.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{Timestamp, clock::to_micros, id::TenantId};

macro_rules! agent_select {
    ($rest:literal) => {
        concat!("SELECT agent, documents, bytes, updated_at FROM memory_agents WHERE tenant_id = $1 AND ", $rest)
    };
}

statements! {
    const BY_SLUG: &str = agent_select!("agent = $2");
    const BY_SLUG_LOCKED_POSTGRES: &str = agent_select!("agent = $2 FOR UPDATE");
    const LIST: &str = agent_select!("(agent > $2 OR $2 IS NULL) ORDER BY agent LIMIT $3");
    const INSERT: &str = "INSERT INTO memory_agents (tenant_id, agent, documents, bytes, created_at, updated_at) \
         VALUES ($1, $2, 0, 0, $3, $3) ON CONFLICT (tenant_id, agent) DO NOTHING";
    const SAVE: &str =
        "UPDATE memory_agents SET documents = $3, bytes = $4, updated_at = $5 WHERE tenant_id = $1 AND agent = $2";
}

record! {
    /// The totals of an agent's memory.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MemoryAgentRecord of "memory_agents" {
        /// Slug of the agent.
        pub agent: String,
        /// Number of documents that are not deleted.
        pub documents: u64,
        /// Bytes of their texts.
        pub bytes: u64,
        /// Time of the newest write (UTC). It does not go back when the clock does: the id of the newest version has
        /// this time in milliseconds.
        pub updated_at: Timestamp,
    }
}

/// The totals of an agent; `None` if nothing was ever written to its memory.
pub async fn find_agent(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str) -> Result<Option<MemoryAgentRecord>> {
    Ok(run!(conn, fetch_optional MemoryAgentRecord, BY_SLUG, tenant_id.0, agent)?)
}

/// The totals of an agent, made if there are none, and locked until the transaction ends.
pub async fn lock_agent(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    at: Timestamp,
) -> Result<MemoryAgentRecord> {
    run!(tx.conn(), execute, INSERT, tenant_id.0, agent, to_micros(at))?;
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_SLUG } else { BY_SLUG_LOCKED_POSTGRES };
    Ok(run!(tx.conn(), fetch_one MemoryAgentRecord, sql, tenant_id.0, agent)?)
}

/// Saves the totals. The caller holds their lock.
pub async fn save_agent(tx: &mut WriteTx<'_>, tenant_id: TenantId, totals: &MemoryAgentRecord) -> Result<()> {
    let (documents, bytes) = (totals.documents.cast_signed(), totals.bytes.cast_signed());
    let at = to_micros(totals.updated_at);
    run!(tx.conn(), execute, SAVE, tenant_id.0, totals.agent.as_str(), documents, bytes, at)?;
    Ok(())
}

/// Agents with a memory, by slug, after this one.
pub async fn agents(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    after: Option<&str>,
    limit: u32,
) -> Result<Vec<MemoryAgentRecord>> {
    Ok(run!(conn, fetch_all MemoryAgentRecord, LIST, tenant_id.0, after, i64::from(limit))?)
}
