//! Erasing a memory document with all its versions, and reading what is left: digests, times and authors. What quotes
//! the document is erased by [`crate::memory_forget::erase`], which is the use case.

use super::Stamp;
use crate::{Error, MemoryDocumentRecord, Result};
use domain::{
    id::{MemoryDocumentId, TenantId},
    memory::{Document, Operation, Source, digest},
};
use store::{Conn, MemoryVersionRecord, MemoryVersionText, WriteTx};

/// The folder of erased documents.
const FOLDER: &str = "erased/";

/// What an erasure removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Erased {
    /// Number of versions whose text was erased.
    pub versions: u64,
}

/// Erases a document inside a transaction that runs with [`store::Access::Retention`]. Its path becomes `erased/<id>`,
/// because the name of a person's document says who it is. `reason` is shown to everyone and names no one. The caller
/// empties the write-ahead log afterwards.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such document. One that is erased already does not change.
pub async fn erase_on(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    stamp: Stamp,
    id: MemoryDocumentId,
    (author, reason): (String, &str),
) -> Result<Erased> {
    let missing = Error::NotFound("memory document");
    let agent = store::memory::find(tx.conn(), tenant_id, id).await?.ok_or(missing)?.agent;
    let mut totals = store::memory::lock_agent(tx, tenant_id, &agent, stamp.at).await?;
    // Read again under the lock.
    let mut document =
        store::memory::find(tx.conn(), tenant_id, id).await?.ok_or(Error::NotFound("memory document"))?;
    let path = format!("{FOLDER}{id}");
    if document.path == path {
        return Ok(Erased::default());
    }
    if !document.is_deleted {
        totals.documents = totals.documents.saturating_sub(1);
        totals.bytes = totals.bytes.saturating_sub(document.bytes);
    }
    let stamp = stamp.after(&mut totals);
    let versions = store::memory::erase_versions(tx, tenant_id, id, &path, stamp.at).await?;
    store::memory::unindex(tx, tenant_id, id).await?;
    store::memory::empty_vectors(tx, tenant_id, id).await?;
    store::memory::drop_channels(tx, tenant_id, id).await?;
    store::relevance::forget_document(tx, tenant_id, id).await?;
    document.path.clone_from(&path);
    document.version += 1;
    document.digest = digest("");
    document.bytes = 0;
    document.is_deleted = true;
    document.updated_at = stamp.at;
    store::memory::save_document(tx, tenant_id, &document, &path).await?;
    let version = MemoryVersionRecord {
        document_id: id,
        version: document.version,
        id: stamp.version_id,
        agent,
        path,
        operation: Operation::Erased,
        digest: document.digest,
        source: Source::Erasure,
        author,
        reason: reason.to_owned(),
        evidence: Vec::new(),
        created_at: stamp.at,
        erased_at: None,
    };
    store::memory::insert_version(tx, tenant_id, &MemoryVersionText { version, document: Document::default() }).await?;
    store::memory::save_agent(tx, tenant_id, &totals).await?;
    Ok(Erased { versions })
}

/// What is left of an erased document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ErasedDocument {
    /// At the version that erased it, which has the author and the time of the erasure.
    pub(crate) document: MemoryDocumentRecord,
    /// Its newest versions without their texts, newest first. The first is the erasure.
    pub(crate) versions: Vec<MemoryVersionRecord>,
}

/// Returns what is left of an erased document, with at most `limit` versions.
///
/// # Errors
/// [`Error::NotFound`] if the agent has no erased document with this id.
pub(crate) async fn find_erased_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    id: MemoryDocumentId,
    limit: u32,
) -> Result<ErasedDocument> {
    let document = store::memory::find(conn, tenant_id, id).await?;
    let document = document.filter(|found| found.agent == agent && found.path.starts_with(FOLDER));
    let document = document.ok_or(Error::NotFound("memory document"))?;
    let versions = store::memory::versions(conn, tenant_id, id, None, limit).await?.items;
    Ok(ErasedDocument { document, versions })
}
