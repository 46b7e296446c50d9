//! How useful memory documents were, from `session_memories` and `memory_ratings`.

use crate::engine::{Conn, Result, record, run, statements};
use domain::{
    Timestamp,
    id::{MemoryDocumentId, SessionId, TenantId},
};

statements! {
    // The newest sessions have the largest ids. A rating counts for its prompt.
    const BY_DOCUMENT: &str = "SELECT d.agent, d.path, COUNT(*) AS given, \
         CAST(SUM(CASE WHEN m.use_hits > 0 THEN 1 ELSE 0 END) AS bigint) AS used, COUNT(m.mean) AS rated, \
         AVG(m.mean) AS mean FROM (SELECT s.document_id, s.use_hits, (SELECT AVG(r.value) FROM memory_ratings r \
         WHERE r.tenant_id = s.tenant_id AND r.session_id = s.session_id AND r.turn = s.turn \
         AND r.memory_id = s.memory_id) AS mean FROM session_memories s WHERE s.tenant_id = $1 AND s.injected \
         ORDER BY s.session_id DESC, s.turn DESC, s.memory_id LIMIT $2) m \
         JOIN memory_documents d ON d.tenant_id = $1 AND d.id = m.document_id \
         GROUP BY d.agent, d.path ORDER BY d.agent, d.path";
    // In the order of the index `session_memories_by_document`.
    const OF_DOCUMENT: &str = "SELECT m.memory_id, m.session_id, m.turn, m.at, m.use_hits, \
         (SELECT AVG(r.value) FROM memory_ratings r WHERE r.tenant_id = m.tenant_id AND r.session_id = m.session_id \
         AND r.turn = m.turn AND r.memory_id = m.memory_id) AS mean, \
         (SELECT COUNT(*) FROM memory_ratings r WHERE r.tenant_id = m.tenant_id AND r.session_id = m.session_id \
         AND r.turn = m.turn AND r.memory_id = m.memory_id) AS ratings FROM session_memories m \
         JOIN sessions s ON s.tenant_id = m.tenant_id AND s.id = m.session_id \
         WHERE m.tenant_id = $1 AND m.document_id = $2 AND m.injected AND s.private_to IS NULL \
         ORDER BY m.session_id DESC, m.turn DESC LIMIT $3";
}

record! {
    /// What became of the memories of one document that agents were given.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MemoryFigure of "session_memories" {
        /// Slug of the agent.
        pub agent: String,
        /// Path of the document.
        pub path: String,
        /// Number of times that agents were given one of its memories.
        pub given: u64,
        /// Number of its uses.
        pub used: u64,
        /// Number of its ratings.
        pub rated: u64,
        /// Mean of these ratings, from -1 to 1; `None` if there are none.
        pub mean: Option<f64>,
    }
}

/// Figures of the documents of which agents were given memories, by agent and path: of the newest so many memories.
pub async fn by_document(conn: &mut Conn<'_>, tenant_id: TenantId, newest: u32) -> Result<Vec<MemoryFigure>> {
    Ok(run!(conn, fetch_all MemoryFigure, BY_DOCUMENT, tenant_id.0, i64::from(newest))?)
}

record! {
    /// A memory that an agent was given with a prompt, and what became of it.
    #[derive(Debug, Clone, PartialEq)]
    pub struct GivenMemory of "session_memories" {
        /// Its id in the block.
        pub memory_id: String,
        /// Session of the prompt.
        pub session_id: SessionId,
        /// Sequence of the event that recorded the block.
        pub turn: u64,
        /// Time of the prompt (UTC).
        pub at: Timestamp,
        /// Number of its uses.
        pub use_hits: u32,
        /// Mean of its ratings for this prompt, from -1 to 1; `None` if there are none.
        pub mean: Option<f64>,
        /// Number of these ratings.
        pub ratings: u32,
    }
}

/// The newest memories of a document that agents were given, at most `limit`, in sessions that are not private.
pub async fn of_document(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    document_id: MemoryDocumentId,
    limit: u32,
) -> Result<Vec<GivenMemory>> {
    Ok(run!(conn, fetch_all GivenMemory, OF_DOCUMENT, tenant_id.0, document_id.0, i64::from(limit))?)
}
