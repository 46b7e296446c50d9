//! Taking the lines about a person out of one document.

use super::{
    Stamp,
    blame::attribute,
    erase::erase_on,
    write::{Attribution, NewState, put},
};
use crate::{Error, Result};
use domain::{
    id::{MemoryDocumentId, TenantId},
    limit::MEMORY_BLAME_VERSIONS_MAX,
    memory::{Evidence, MemoryPath, Operation, Source},
    memory_forget::{Names, PersonLines, strip},
};
use store::WriteTx;

/// Shown in the history of a document that lost lines, and of one that is erased because none were left.
const REASON: &str = "Lines about a person were erased.";

/// What cleaning a document did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cleaned {
    /// Number of lines that the newest version lost.
    pub lines: u64,
    /// Number of versions whose text was erased.
    pub versions: u64,
}

/// Writes a version of a document without the lines about a person, and erases the texts of all earlier versions:
/// versions repeat each other's lines. The new version names the origin of the lines that are left. A document that
/// says nothing then, is deleted, or names the person in its path is erased. Runs with [`store::Access::Retention`];
/// the caller empties the write-ahead log afterwards.
pub(crate) async fn clean_on(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (stamp, author): (Stamp, &str),
    id: MemoryDocumentId,
    (names, said): (&Names, &PersonLines),
) -> Result<Cleaned> {
    let missing = || Error::NotFound("memory document");
    let agent = store::memory::find(tx.conn(), tenant_id, id).await?.ok_or_else(missing)?.agent;
    let mut totals = store::memory::lock_agent(tx, tenant_id, &agent, stamp.at).await?;
    let document = store::memory::find(tx.conn(), tenant_id, id).await?.ok_or_else(missing)?;
    let Ok(path) = MemoryPath::parse(&document.path) else { return Ok(Cleaned::default()) };
    let newest = store::memory::text(tx.conn(), tenant_id, id, document.version).await?;
    let text = newest.map(|newest| newest.document.to_text()).unwrap_or_default();
    let left = strip(&text, names, said);
    let lines = left.dropped.len() as u64;
    if document.is_deleted || left.is_nothing() || names.are_in(path.as_str()) {
        let erased = erase_on(tx, tenant_id, stamp, id, (author.to_owned(), REASON)).await?;
        return Ok(Cleaned { lines, versions: erased.versions });
    }
    let texts = store::memory::latest_texts(tx.conn(), tenant_id, id, MEMORY_BLAME_VERSIONS_MAX).await?;
    let blamed = attribute(texts);
    let mut evidence = Vec::new();
    for (line, before) in (1_u32..).zip(&left.numbers) {
        let of_line = blamed.get(*before as usize - 1).map(|line| line.evidence.as_slice()).unwrap_or_default();
        evidence.extend(of_line.iter().map(|one| Evidence { line, ..*one }));
    }
    let versions = store::memory::erase_versions(tx, tenant_id, id, &document.path, stamp.at).await?;
    totals.bytes = totals.bytes.saturating_sub(document.bytes) + left.text.len() as u64;
    let stamp = stamp.after(&mut totals);
    let next = NewState { operation: Operation::Modified, path, text: left.text, evidence, is_deleted: false };
    let by = Attribution { agent, source: Source::Erasure, author: author.to_owned(), reason: REASON.to_owned() };
    put(tx, tenant_id, stamp, Some(document), next, by).await?;
    store::memory::save_agent(tx, tenant_id, &totals).await?;
    Ok(Cleaned { lines, versions })
}
