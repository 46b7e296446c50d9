//! Rows of `memory_documents`, each with the author of its newest version.

use crate::{
    engine::{Conn, Page, Result, record, run, statements},
    // `has` is made of the others, which are looked up where they are used.
    session::{Contains, group_values, groups, has, values},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::to_micros,
    id::{MemoryDocumentId, TenantId},
    memory::{Folder, MemoryPath, Source},
};

macro_rules! document_select {
    ($rest:expr) => {
        concat!(
            "SELECT d.id, d.agent, d.path, d.version, d.digest, d.bytes, d.is_deleted <> 0 AS is_deleted, d.created_at, d.updated_at, \
             v.source, v.author FROM memory_documents d JOIN memory_versions v \
             ON v.tenant_id = d.tenant_id AND v.document_id = d.id AND v.version = d.version WHERE d.tenant_id = $1 AND ",
            $rest
        )
    };
}

/// A page of an agent's documents.
macro_rules! list_select {
    ($engine:ident) => {
        document_select!(concat!(
            "d.agent = $2 AND (d.is_deleted = 0 OR $3 = 1) AND (d.path_folded LIKE $4 OR $4 IS NULL) \
             AND ((d.path_folded, d.id) > (SELECT p.path_folded, p.id FROM memory_documents p \
                 WHERE p.tenant_id = $1 AND p.id = $5) OR $5 IS NULL)",
            has!($engine, "d.path", "$7", "$8"),
            " ORDER BY d.path_folded, d.id LIMIT $6"
        ))
    };
}

/// The first documents with parts of the path, of one agent or of all.
macro_rules! with_path_select {
    ($engine:ident) => {
        document_select!(concat!(
            "d.agent IN (SELECT a.agent FROM memory_agents a WHERE a.tenant_id = $1 AND (a.agent = $2 OR $2 IS NULL)) \
             AND d.is_deleted = 0",
            has!($engine, "d.path", "$3", "$4"),
            " ORDER BY d.agent, d.path_folded, d.id LIMIT $5"
        ))
    };
}

statements! {
    const BY_ID: &str = document_select!("d.id = $2");
    // A deleted document is found by its path until another one has it.
    const BY_PATH: &str =
        document_select!("d.agent = $2 AND d.path_folded = $3 ORDER BY d.is_deleted, d.updated_at DESC, d.id DESC LIMIT 1");
    const LIST_SQLITE: &str = list_select!(sqlite);
    const LIST_POSTGRES: &str = list_select!(postgres);
    const WITH_PATH_SQLITE: &str = with_path_select!(sqlite);
    const WITH_PATH_POSTGRES: &str = with_path_select!(postgres);
    // By agent, because the index of paths begins with it.
    const OF_ALL_AGENTS: &str = document_select!(
        "d.agent IN (SELECT a.agent FROM memory_agents a WHERE a.tenant_id = $1) AND d.path_folded = $2 \
         AND d.is_deleted = 0 ORDER BY d.agent LIMIT $3"
    );
    // `0` follows `/`.
    const ERASED: &str = "SELECT COUNT(*) FROM memory_documents \
         WHERE tenant_id = $1 AND agent = $2 AND path_folded >= 'erased/' AND path_folded < 'erased0'";
    const INSERT: &str = "INSERT INTO memory_documents (tenant_id, id, agent, path, path_folded, version, digest, bytes, \
         is_deleted, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    const SAVE: &str = "UPDATE memory_documents SET path = $3, path_folded = $4, version = $5, digest = $6, bytes = $7, \
         is_deleted = $8, updated_at = $9 WHERE tenant_id = $1 AND id = $2";
}

record! {
    /// A memory document at its newest version, without its text.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MemoryDocumentRecord of "memory_documents" {
        /// Identifies the document. It stays when the path changes.
        pub id: MemoryDocumentId,
        /// Slug of the agent.
        pub agent: String,
        /// Path of the document, or `erased/<id>` after its erasure.
        pub path: String,
        /// Newest version; the first is 1.
        pub version: u64,
        /// SHA-256 of the whole text.
        pub digest: Digest,
        /// Bytes of the whole text.
        pub bytes: u64,
        /// Whether the newest version deleted or erased the document.
        pub is_deleted: bool,
        /// What wrote the newest version.
        pub source: Source,
        /// Who wrote the newest version.
        pub author: String,
        /// Time the document was made (UTC).
        pub created_at: Timestamp,
        /// Time of the newest version (UTC).
        pub updated_at: Timestamp,
    }
}

/// A document of this workspace, deleted or not.
pub async fn find(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: MemoryDocumentId,
) -> Result<Option<MemoryDocumentRecord>> {
    Ok(run!(conn, fetch_optional MemoryDocumentRecord, BY_ID, tenant_id.0, id.0)?)
}

/// The document of an agent at this path. If there is none, the one that was there last and is deleted.
pub async fn find_by_path(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    path: &MemoryPath,
) -> Result<Option<MemoryDocumentRecord>> {
    let folded = path.folded();
    Ok(run!(conn, fetch_optional MemoryDocumentRecord, BY_PATH, tenant_id.0, agent, folded.as_str())?)
}

/// The documents at this path in the memories of all agents, by agent, at most `limit`. Deleted ones are left out.
pub async fn of_all_agents(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    path: &MemoryPath,
    limit: u32,
) -> Result<Vec<MemoryDocumentRecord>> {
    let folded = path.folded();
    Ok(run!(conn, fetch_all MemoryDocumentRecord, OF_ALL_AGENTS, tenant_id.0, folded.as_str(), i64::from(limit))?)
}

/// The documents of an agent, or of all agents, with these parts in the path: by agent and path, at most `limit`.
/// Deleted ones are left out.
pub async fn with_path(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: Option<&str>,
    paths: &Contains,
    limit: u32,
) -> Result<Vec<MemoryDocumentRecord>> {
    let sql = if matches!(conn, Conn::Sqlite(_)) { WITH_PATH_SQLITE } else { WITH_PATH_POSTGRES };
    let (all, none, limit) = (paths.all(), paths.none(), i64::from(limit));
    let (all, none) = (all.as_deref(), none.as_deref());
    Ok(run!(conn, fetch_all MemoryDocumentRecord, sql, tenant_id.0, agent, all, none, limit)?)
}

/// Which documents of an agent a list has. Empty: all that are not deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// Only documents of this folder.
    pub folder: Option<Folder>,
    /// Whether deleted documents are listed too.
    pub with_deleted: bool,
    /// Parts of the path.
    pub paths: Contains,
}

impl DocumentFilter {
    /// The documents of a folder.
    pub fn of(folder: Folder) -> Self {
        Self { folder: Some(folder), ..Self::default() }
    }
}

/// One page of an agent's documents by path, starting after the present place of the document `after`.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    filter: &DocumentFilter,
    after: Option<MemoryDocumentId>,
    limit: u32,
) -> Result<Page<MemoryDocumentRecord>> {
    let sql = if matches!(conn, Conn::Sqlite(_)) { LIST_SQLITE } else { LIST_POSTGRES };
    let pattern = filter.folder.map(|folder| format!("{}/%", folder.as_str()));
    let (deleted, more) = (i64::from(filter.with_deleted), i64::from(limit) + 1);
    let (after, paths, no_paths) = (after.map(|id| id.0), filter.paths.all(), filter.paths.none());
    let rows = run!(
        conn,
        fetch_all MemoryDocumentRecord,
        sql,
        tenant_id.0,
        agent,
        deleted,
        pattern.as_deref(),
        after,
        more,
        paths.as_deref(),
        no_paths.as_deref(),
    )?;
    Ok(Page::of(rows, limit))
}

/// Number of an agent's documents that were erased.
pub async fn count_erased(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str) -> Result<u64> {
    let (count,) = run!(conn, fetch_one(i64,), ERASED, tenant_id.0, agent)?;
    Ok(count.cast_unsigned())
}

/// Adds a document. The caller also adds its first version.
pub async fn insert_document(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    document: &MemoryDocumentRecord,
    path_folded: &str,
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        document.id.0,
        document.agent.as_str(),
        document.path.as_str(),
        path_folded,
        document.version.cast_signed(),
        document.digest.0.to_vec(),
        document.bytes.cast_signed(),
        i64::from(document.is_deleted),
        to_micros(document.created_at),
        to_micros(document.updated_at),
    )?;
    Ok(())
}

/// Saves a document at its next version. The caller holds the lock of its agent and also adds the version.
pub async fn save_document(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    document: &MemoryDocumentRecord,
    path_folded: &str,
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        SAVE,
        tenant_id.0,
        document.id.0,
        document.path.as_str(),
        path_folded,
        document.version.cast_signed(),
        document.digest.0.to_vec(),
        document.bytes.cast_signed(),
        i64::from(document.is_deleted),
        to_micros(document.updated_at),
    )?;
    Ok(())
}
