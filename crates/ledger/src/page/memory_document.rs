//! The document on the page /agents/{slug}/memory.

use super::memory_usefulness::{Usefulness, usefulness_on};
use crate::{
    Error, MemoryDocumentRecord, MemoryVersionRecord, Result,
    memory::{BlamedLine, MemoryText, VersionDiff, diff_on, find_erased_on, read_on},
};
use domain::{
    id::{MemoryDocumentId, TenantId},
    limit::MEMORY_BLAME_VERSIONS_MAX,
    memory::MemoryPath,
};
use store::{Conn, MemoryVersionText};

/// Number of versions in the history of a document.
const VERSIONS: u32 = 50;

/// The part of a document's page besides its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Only the text.
    Text,
    /// The versions, and the changes of one of them.
    History {
        /// The version whose changes are read; `None` for the newest of those that are listed.
        version: Option<u64>,
        /// The versions before this one are listed; `None` for the newest ones.
        before: Option<u64>,
    },
    /// The origin of each line.
    Origin,
    /// How useful its lines were.
    Usefulness,
}

/// A document as the page shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// At its newest version.
    pub document: MemoryDocumentRecord,
    /// The text of that version; empty if the document is deleted.
    pub text: String,
    /// Whether its texts were erased.
    pub is_erased: bool,
    /// Its versions, newest first; only for [`Part::History`], and of an erased document.
    pub versions: Vec<MemoryVersionRecord>,
    /// Whether there are older versions than those; only for [`Part::History`].
    pub has_more_versions: bool,
    /// What one version changed; only for [`Part::History`].
    pub diff: Option<VersionDiff>,
    /// Its lines with their origin; only for [`Part::Origin`].
    pub origin: Vec<BlamedLine>,
    /// How useful its lines were; only for [`Part::Usefulness`].
    pub usefulness: Option<Usefulness>,
}

/// Reads the document at a path, which may be deleted, and for [`Part::Origin`] the texts that its lines come from.
///
/// # Errors
/// [`Error::NotFound`] if there was never a document at this path, or if it has no such version.
pub(super) async fn document_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    path: &MemoryPath,
    part: Part,
) -> Result<(Document, Vec<MemoryVersionText>)> {
    let found = read_on(conn, tenant_id, agent, path).await?;
    let MemoryText { document, text } = found.ok_or(Error::NotFound("memory document"))?;
    let (mut versions, mut has_more_versions, mut diff, mut texts) = (Vec::new(), false, None, Vec::new());
    let mut usefulness = None;
    match part {
        Part::Text => {}
        Part::History { version, before } => {
            let page = store::memory::versions(conn, tenant_id, document.id, before, VERSIONS).await?;
            (versions, has_more_versions) = (page.items, page.has_more);
            let version = version.or_else(|| versions.first().map(|newest| newest.version));
            diff = Some(diff_on(conn, tenant_id, &document, None, version).await?);
        }
        Part::Origin => {
            let limit = MEMORY_BLAME_VERSIONS_MAX;
            texts = store::memory::latest_texts(conn, tenant_id, document.id, limit).await?;
        }
        Part::Usefulness => usefulness = Some(usefulness_on(conn, tenant_id, &document, &text).await?),
    }
    let origin = Vec::new();
    let opened = Document { document, text, is_erased: false, versions, has_more_versions, diff, origin, usefulness };
    Ok((opened, texts))
}

/// Reads what is left of an erased document.
///
/// # Errors
/// [`Error::NotFound`] if the agent has no erased document with this id.
pub(super) async fn erased_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    id: MemoryDocumentId,
) -> Result<Document> {
    let left = find_erased_on(conn, tenant_id, agent, id, VERSIONS).await?;
    Ok(Document {
        document: left.document,
        text: String::new(),
        is_erased: true,
        versions: left.versions,
        has_more_versions: false,
        diff: None,
        origin: Vec::new(),
        usefulness: None,
    })
}
