//! Vectors of memory documents: `memory_vectors`.
//!
//! A row has the vectors of one version of a document. The write that changes the text empties them; a job makes those
//! of the new text later. Rows are not deleted, because servers that keep vectors in memory read what changed: each
//! change of an agent's rows has a number, which the lock of the agent puts in order.

use super::search::{FoundDocument, FoundRow, found_select};
use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    id::{MemoryDocumentId, TenantId},
};
use uuid::Uuid;

statements! {
    const AGENTS_AFTER: &str = "SELECT tenant_id, agent, documents, bytes, updated_at FROM memory_agents \
         WHERE (tenant_id, agent) > ($1, $2) ORDER BY tenant_id, agent LIMIT $3";
    const WITHOUT: &str = "SELECT d.id AS document_id, d.version, v.body FROM memory_documents d \
         JOIN memory_versions v ON v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version \
         WHERE d.tenant_id = $1 AND d.agent = $2 AND d.is_deleted = 0 AND NOT EXISTS (SELECT 1 FROM memory_vectors m \
             WHERE m.tenant_id = d.tenant_id AND m.document_id = d.id AND m.version = d.version AND m.model = $3) \
         ORDER BY d.id LIMIT $4";
    const SAVE: &str = "INSERT INTO memory_vectors (tenant_id, document_id, agent, model, version, change, vectors) \
         SELECT $1, $2, $3, $4, $5, (SELECT COALESCE(MAX(m.change), 0) + 1 FROM memory_vectors m \
             WHERE m.tenant_id = $1 AND m.agent = $3), $6 \
         WHERE EXISTS (SELECT 1 FROM memory_documents d \
             WHERE d.tenant_id = $1 AND d.id = $2 AND d.version = $5 AND d.is_deleted = 0) \
         ON CONFLICT (tenant_id, document_id) DO UPDATE SET model = excluded.model, version = excluded.version, \
             change = excluded.change, vectors = excluded.vectors";
    const EMPTY: &str = "UPDATE memory_vectors SET version = 0, vectors = $3, \
         change = (SELECT MAX(m.change) + 1 FROM memory_vectors m \
             WHERE m.tenant_id = $1 AND m.agent = memory_vectors.agent) \
         WHERE tenant_id = $1 AND document_id = $2 AND version > 0";
    const AFTER: &str = "SELECT document_id, model, version, change, vectors FROM memory_vectors \
         WHERE tenant_id = $1 AND agent = $2 AND change > $3 ORDER BY change LIMIT $4";
    const NOTE_FAILURE: &str = "UPDATE memory_agents SET vectors_failure = $3 WHERE tenant_id = $1 AND agent = $2 \
         AND COALESCE(vectors_failure, '') <> COALESCE($3, '')";
    const COUNTS: &str = "SELECT a.agent, a.documents, a.vectors_failure AS failure, COALESCE(m.model, '') AS model, \
         COUNT(m.document_id) AS made, \
         CAST(COALESCE(SUM(CASE WHEN length(m.vectors) = 0 THEN 1 ELSE 0 END), 0) AS bigint) AS empty \
         FROM memory_agents a LEFT JOIN memory_vectors m \
             ON m.tenant_id = a.tenant_id AND m.agent = a.agent AND m.version > 0 \
         WHERE a.tenant_id = $1 GROUP BY a.agent, a.documents, a.vectors_failure, m.model ORDER BY a.agent, m.model";
    const BY_ID_SQLITE: &str = found_select!(
        "",
        ("$3", "$4"),
        "",
        "SELECT o.tenant_id, o.id AS document_id, j.key AS place FROM json_each($2) j \
         CROSS JOIN memory_documents o WHERE o.tenant_id = $1 AND o.id = unhex(j.value)"
    );
    const BY_ID_POSTGRES: &str = found_select!(
        "",
        ("$3", "$4"),
        "",
        "SELECT o.tenant_id, o.id AS document_id, w.place FROM unnest($2::uuid[]) WITH ORDINALITY AS w (id, place) \
         JOIN memory_documents o ON o.tenant_id = $1 AND o.id = w.id"
    );
}

record! {
    /// An agent of any workspace, with what changes when its memory does.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct AgentMemory of "memory_agents" {
        /// Its workspace.
        pub tenant_id: TenantId,
        /// Slug of the agent.
        pub agent: String,
        /// Number of documents that are not deleted.
        pub documents: u64,
        /// Bytes of their texts.
        pub bytes: u64,
        /// Time of the newest write (UTC).
        pub updated_at: Timestamp,
    }
}

record! {
    /// A document without vectors of its newest version.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct WithoutVectors of "memory_documents" {
        /// Identifies the document.
        pub document_id: MemoryDocumentId,
        /// Its newest version.
        pub version: u64,
        /// Text of that version, without front matter.
        pub body: String,
    }
}

record! {
    /// The vectors of a document as they were when the row was read.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DocumentVectors of "memory_vectors" {
        /// Identifies the document.
        pub document_id: MemoryDocumentId,
        /// What made them.
        pub model: String,
        /// Version of the document whose passages these are; 0 if the text is another one by now.
        pub version: u64,
        /// Number of the change that wrote the row.
        pub change: u64,
        /// The vectors of the passages, one after the other.
        pub vectors: Vec<u8>,
    }
}

record! {
    /// How many documents of an agent have vectors of one model.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct VectorCount of "memory_vectors" {
        /// Slug of the agent.
        pub agent: String,
        /// Number of documents that are not deleted.
        pub documents: u64,
        /// What made the vectors; empty if no document has any.
        pub model: String,
        /// Number of documents whose newest version was given to what makes vectors.
        pub made: u64,
        /// Number of those that got none: without text, or refused by a service.
        pub empty: u64,
        /// Why the vectors of further documents could not be made, when it was last tried.
        pub failure: Option<String>,
    }
}

/// Agents of all workspaces with a memory, after this one.
pub async fn agents_after(
    conn: &mut Conn<'_>,
    after: Option<&(TenantId, String)>,
    limit: u32,
) -> Result<Vec<AgentMemory>> {
    let (tenant_id, agent) = after.map_or((Uuid::nil(), ""), |(tenant_id, agent)| (tenant_id.0, agent.as_str()));
    Ok(run!(conn, fetch_all AgentMemory, AGENTS_AFTER, tenant_id, agent, i64::from(limit))?)
}

/// Documents of an agent without vectors of this model, with their texts.
pub async fn without_vectors(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    model: &str,
    limit: u32,
) -> Result<Vec<WithoutVectors>> {
    Ok(run!(conn, fetch_all WithoutVectors, WITHOUT, tenant_id.0, agent, model, i64::from(limit))?)
}

/// Saves the vectors of a version of a document. Does nothing if the document has another version by now or is deleted.
/// The caller holds the lock of the agent.
pub async fn save_vectors(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (agent, model): (&str, &str),
    (document_id, version): (MemoryDocumentId, u64),
    vectors: Vec<u8>,
) -> Result<()> {
    run!(tx.conn(), execute, SAVE, tenant_id.0, document_id.0, agent, model, version.cast_signed(), vectors)?;
    Ok(())
}

/// Notes why the vectors of an agent's documents could not be made; `None` if they could.
pub async fn note_vector_failure(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    why: Option<&str>,
) -> Result<()> {
    run!(tx.conn(), execute, NOTE_FAILURE, tenant_id.0, agent, why)?;
    Ok(())
}

/// Empties the vectors of a document whose text changes. The caller holds the lock of its agent.
pub async fn empty_vectors(tx: &mut WriteTx<'_>, tenant_id: TenantId, document_id: MemoryDocumentId) -> Result<()> {
    run!(tx.conn(), execute, EMPTY, tenant_id.0, document_id.0, Vec::<u8>::new())?;
    Ok(())
}

/// Rows of an agent that changed after the change with this number, in the order of the changes.
pub async fn vectors_after(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    change: u64,
    limit: u32,
) -> Result<Vec<DocumentVectors>> {
    let (change, limit) = (change.cast_signed(), i64::from(limit));
    Ok(run!(conn, fetch_all DocumentVectors, AFTER, tenant_id.0, agent, change, limit)?)
}

/// How many documents of each agent of a workspace have vectors, by agent and model.
pub async fn vector_counts(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<Vec<VectorCount>> {
    Ok(run!(conn, fetch_all VectorCount, COUNTS, tenant_id.0)?)
}

/// These documents with their newest texts, in this order. Deleted ones are left out.
pub async fn found_by_id(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: &[MemoryDocumentId],
    channel: Option<(&str, &str)>,
) -> Result<Vec<FoundDocument>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (platform, channel) = channel.unzip();
    let rows: Vec<FoundRow> = match conn {
        Conn::Sqlite(c) => {
            let ids: Vec<String> = ids.iter().map(|id| id.0.simple().to_string()).collect();
            let ids = serde_json::to_string(&ids).map_err(|why| Error::Database(why.to_string()))?;
            c.fetch_all::<FoundRow>(BY_ID_SQLITE, &[&tenant_id.0, &ids, &platform, &channel])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            let query = sqlx::query_as::<_, FoundRow>(BY_ID_POSTGRES).bind(tenant_id.0).bind(ids);
            query.bind(platform).bind(channel).fetch_all(&mut **c).await?
        }
    };
    Ok(rows.into_iter().map(FoundDocument::from).collect())
}
