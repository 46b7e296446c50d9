//! Rows of `memory_versions`: every text that a memory document had, and the audit lists made from them.

use super::origin::{add_origins, drop_origins};
use crate::{
    engine::{Conn, Error, Page, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::to_micros,
    id::{MemoryDocumentId, MemoryVersionId, TenantId},
    memory::{Document, Evidence, Operation, Source},
};

// Lists leave the origin of lines out: it can be as long as the text.
macro_rules! version_select {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT document_id, version, id, agent, path, operation, digest, source, author, reason, created_at, erased_at, ",
            $columns,
            " FROM memory_versions WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}
macro_rules! text_select {
    ($rest:literal) => {
        version_select!("front_matter, body, evidence", $rest)
    };
}

statements! {
    const TEXT: &str = text_select!("document_id = $2 AND version = $3");
    const LATEST_TEXTS: &str = text_select!("document_id = $2 ORDER BY version DESC LIMIT $3");
    const TEXTS_UP_TO: &str = text_select!("document_id = $2 AND version <= $3 ORDER BY version DESC LIMIT $4");
    const VERSIONS: &str = version_select!(
        "'[]' AS evidence",
        "document_id = $2 AND (version < $3 OR $3 IS NULL) ORDER BY version DESC LIMIT $4"
    );
    const AUDIT: &str =
        version_select!("'[]' AS evidence", "agent = $2 AND (id < $3 OR $3 IS NULL) ORDER BY id DESC LIMIT $4");
    const TEXTS_AFTER: &str =
        text_select!("agent = $2 AND erased_at IS NULL AND (id > $3 OR $3 IS NULL) ORDER BY id LIMIT $4");
    const INSERT: &str = "INSERT INTO memory_versions (tenant_id, document_id, version, id, agent, path, operation, \
         front_matter, body, digest, source, author, reason, evidence, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    const ERASE: &str = "UPDATE memory_versions SET front_matter = NULL, body = '', reason = '', evidence = '[]', path = $3, \
         erased_at = $4 WHERE tenant_id = $1 AND document_id = $2 AND erased_at IS NULL";
}

record! {
    /// A version of a memory document, without its text.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MemoryVersionRecord of "memory_versions" {
        /// Whose text this is.
        pub document_id: MemoryDocumentId,
        /// Number of the version; the first is 1.
        pub version: u64,
        /// Identifies the version in the audit list of its agent.
        pub id: MemoryVersionId,
        /// Slug of the agent.
        pub agent: String,
        /// Path of the document at this version.
        pub path: String,
        /// What the version did.
        pub operation: Operation,
        /// SHA-256 of the whole text. It stays when the text is erased.
        pub digest: Digest,
        /// What wrote the version.
        pub source: Source,
        /// Who wrote it: `user:…`, `token:…`, `agent:…` or `system`.
        pub author: String,
        /// Why, at most 500 characters.
        pub reason: String,
        /// Where its changed lines come from. Empty in lists.
        pub evidence: Vec<Evidence>,
        /// Time it was written (UTC).
        pub created_at: Timestamp,
        /// Time its text was erased (UTC).
        pub erased_at: Option<Timestamp>,
    }
}

/// A version with its text, which is empty if the version deleted the document or was erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryVersionText {
    /// Its number, author and reason.
    pub version: MemoryVersionRecord,
    /// Text of the document as that version left it.
    pub document: Document,
}

record! {
    struct TextRow of "memory_versions" {
        document_id: MemoryDocumentId,
        version: u64,
        id: MemoryVersionId,
        agent: String,
        path: String,
        operation: Operation,
        digest: Digest,
        source: Source,
        author: String,
        reason: String,
        created_at: Timestamp,
        erased_at: Option<Timestamp>,
        front_matter: Option<String>,
        body: String,
        evidence: Vec<Evidence>,
    }
}

impl From<TextRow> for MemoryVersionText {
    fn from(row: TextRow) -> Self {
        let document = Document { front_matter: row.front_matter, body: row.body };
        let version = MemoryVersionRecord {
            document_id: row.document_id,
            version: row.version,
            id: row.id,
            agent: row.agent,
            path: row.path,
            operation: row.operation,
            digest: row.digest,
            source: row.source,
            author: row.author,
            reason: row.reason,
            evidence: row.evidence,
            created_at: row.created_at,
            erased_at: row.erased_at,
        };
        Self { version, document }
    }
}

/// A version of a document with its text.
pub async fn text(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: MemoryDocumentId,
    version: u64,
) -> Result<Option<MemoryVersionText>> {
    let row = run!(conn, fetch_optional TextRow, TEXT, tenant_id.0, id.0, version.cast_signed())?;
    Ok(row.map(MemoryVersionText::from))
}

/// The newest versions of a document with their texts, newest first.
pub async fn latest_texts(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: MemoryDocumentId,
    limit: u32,
) -> Result<Vec<MemoryVersionText>> {
    let rows = run!(conn, fetch_all TextRow, LATEST_TEXTS, tenant_id.0, id.0, i64::from(limit))?;
    Ok(rows.into_iter().map(MemoryVersionText::from).collect())
}

/// The version `newest` of a document and those before it with their texts, newest first.
pub async fn texts_up_to(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: MemoryDocumentId,
    newest: u64,
    limit: u32,
) -> Result<Vec<MemoryVersionText>> {
    let newest = newest.cast_signed();
    let rows = run!(conn, fetch_all TextRow, TEXTS_UP_TO, tenant_id.0, id.0, newest, i64::from(limit))?;
    Ok(rows.into_iter().map(MemoryVersionText::from).collect())
}

/// Versions of all documents of an agent whose texts are not erased, oldest first, after `after`.
pub async fn texts_after(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    after: Option<MemoryVersionId>,
    limit: u32,
) -> Result<Vec<MemoryVersionText>> {
    let after = after.map(|id| id.0);
    let rows = run!(conn, fetch_all TextRow, TEXTS_AFTER, tenant_id.0, agent, after, i64::from(limit))?;
    Ok(rows.into_iter().map(MemoryVersionText::from).collect())
}

/// One page of a document's versions, newest first, starting after `before`.
pub async fn versions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: MemoryDocumentId,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<MemoryVersionRecord>> {
    let before = before.map(u64::cast_signed);
    Ok(Page::of(
        run!(conn, fetch_all MemoryVersionRecord, VERSIONS, tenant_id.0, id.0, before, i64::from(limit) + 1)?,
        limit,
    ))
}

/// One page of the versions of all documents of an agent, newest first, starting after `before`.
pub async fn audit(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    before: Option<MemoryVersionId>,
    limit: u32,
) -> Result<Page<MemoryVersionRecord>> {
    let before = before.map(|id| id.0);
    Ok(Page::of(
        run!(conn, fetch_all MemoryVersionRecord, AUDIT, tenant_id.0, agent, before, i64::from(limit) + 1)?,
        limit,
    ))
}

/// Adds a version, and the sessions that it names as origins.
pub async fn insert_version(tx: &mut WriteTx<'_>, tenant_id: TenantId, new: &MemoryVersionText) -> Result<()> {
    let MemoryVersionText { version, document } = new;
    let evidence = serde_json::to_string(&version.evidence).map_err(|error| Error::Database(error.to_string()))?;
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        version.document_id.0,
        version.version.cast_signed(),
        version.id.0,
        version.agent.as_str(),
        version.path.as_str(),
        version.operation.as_str(),
        document.front_matter.as_deref(),
        document.body.as_str(),
        version.digest.0.to_vec(),
        version.source.as_str(),
        version.author.as_str(),
        version.reason.as_str(),
        evidence.as_str(),
        to_micros(version.created_at),
    )?;
    add_origins(tx, tenant_id, &version.agent, (version.document_id, version.version), &version.evidence).await
}

/// Erases the texts, reasons and origins of every version of a document, and puts `path` in place of its path. The
/// digests stay. Runs with [`crate::Access::Retention`]. Returns the number of versions.
pub async fn erase_versions(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: MemoryDocumentId,
    path: &str,
    at: Timestamp,
) -> Result<u64> {
    drop_origins(tx, tenant_id, id).await?;
    Ok(run!(tx.conn(), execute, ERASE, tenant_id.0, id.0, path, to_micros(at))?)
}
