//! Reading memory documents, their versions, and the audit lists.

use super::{check_agent, compare, diff::DiffLine};
use crate::{
    Error, Ledger, ListPage, Listed, MemoryDocumentRecord, MemoryVersionRecord, MemoryVersionText, Result,
    cursor::{List, decode_at, encode, encode_at, encode_version, page_size},
    guard::require,
    list_line::titled,
};
use domain::{
    Scope,
    id::{MemoryDocumentId, MemoryVersionId, TenantId},
    memory::{Folder, LineChange, MemoryPath, digest, fold},
    role::Permission,
    search::Field,
};
use store::{Conn, memory::DocumentFilter};
use uuid::Uuid;

/// A document with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryText {
    /// At its newest version.
    pub document: MemoryDocumentRecord,
    /// The whole text of its newest version; empty if it is deleted.
    pub text: String,
}

/// Filter and page of a list of documents.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Only documents of this folder.
    pub folder: Option<Folder>,
    /// Whether deleted documents are listed too.
    pub with_deleted: bool,
    /// Only documents that have each word in the path, with `title:`, which is a part of it too. See
    /// [`Line`](domain::search::Line).
    pub line: Option<String>,
    /// Size and place in the list.
    pub page: ListPage,
}

/// Two versions of a document, compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionDiff {
    /// The older version; `None` for the empty text before the first.
    pub from: Option<MemoryVersionRecord>,
    /// The newer version.
    pub to: MemoryVersionRecord,
    /// Whether the text of one of them was erased. Then nothing is known of what differs.
    pub is_erased: bool,
    /// Their lines; empty if a text was erased.
    pub lines: Vec<DiffLine>,
    /// Number of lines that were added.
    pub added: usize,
    /// Number of lines that were removed.
    pub removed: usize,
}

impl VersionDiff {
    pub(super) fn of(from: Option<MemoryVersionText>, to: MemoryVersionText) -> Self {
        let is_erased = [from.as_ref(), Some(&to)].into_iter().flatten().any(|side| side.version.erased_at.is_some());
        let old = from.as_ref().map(|from| from.document.to_text()).unwrap_or_default();
        // An erased text is empty: it would look as if all lines had been added or removed.
        let lines = if is_erased { Vec::new() } else { compare(&old, &to.document.to_text()) };
        let count = |change| lines.iter().filter(|line| line.change == change).count();
        let (added, removed) = (count(LineChange::Added), count(LineChange::Removed));
        Self { from: from.map(|from| from.version), to: to.version, is_erased, lines, added, removed }
    }
}

/// Returns one page of an agent's documents, by path.
///
/// # Errors
/// [`Error::NotFound`] if `agent` is not a slug; [`Error::Invalid`] for a bad line or a limit above 1,000;
/// [`Error::InvalidCursor`] for a cursor of another list, and for one after a document that was renamed or erased
/// since.
pub async fn list(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    listing: Listing,
) -> Result<Listed<MemoryDocumentRecord>> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let place = listing.page.cursor.as_deref().map(|cursor| decode_at(List::MemoryDocuments, cursor)).transpose()?;
    let limit = page_size(listing.page.limit)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let (mut paths, mut texts) = titled(listing.line.as_deref(), &Field::OF_DOCUMENTS)?;
    // The title of a document is its path.
    paths.groups.append(&mut texts.groups);
    paths.none_of.append(&mut texts.none_of);
    let filter = DocumentFilter { folder: listing.folder, with_deleted: listing.with_deleted, paths };
    let read = ledger.snapshot(scope, async move |conn| {
        let after = match place {
            Some(place) => Some(unmoved(conn, tenant_id, &agent, place).await?),
            None => None,
        };
        let page = store::memory::list(conn, tenant_id, &agent, &filter, after, limit).await?;
        Ok(Listed::of(page, |last| encode_at(List::MemoryDocuments, path_number(&last.path), last.id.0)))
    });
    read.await
}

/// Returns the document after which a page begins. The list is ordered by path: after a document that moved, the page
/// would skip documents or repeat them.
///
/// # Errors
/// [`Error::InvalidCursor`] if the agent has no such document, or if its path is another one now.
async fn unmoved(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    (number, id): (i64, Uuid),
) -> Result<MemoryDocumentId> {
    let found = store::memory::find(conn, tenant_id, MemoryDocumentId(id)).await?;
    let found = found.filter(|found| found.agent == agent && path_number(&found.path) == number);
    found.map(|found| found.id).ok_or(Error::InvalidCursor)
}

/// The first eight bytes of the digest of a path, as it is compared. A cursor has no room for a path.
fn path_number(path: &str) -> i64 {
    digest(&fold(path)).0.first_chunk::<8>().copied().map_or(0, i64::from_be_bytes)
}

/// Returns a document with its text.
///
/// # Errors
/// [`Error::NotFound`] if no document has this path, or it is deleted.
pub async fn read(ledger: &Ledger, scope: &Scope, agent: &str, path: MemoryPath) -> Result<MemoryText> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let found = read_on(conn, tenant_id, &agent, &path).await?;
        found.filter(|found| !found.document.is_deleted).ok_or(Error::NotFound("memory document"))
    });
    read.await
}

/// Finds a document with its text on an open connection. The document may be deleted; then its text is empty.
pub async fn read_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    path: &MemoryPath,
) -> Result<Option<MemoryText>> {
    let Some(document) = store::memory::find_by_path(conn, tenant_id, agent, path).await? else { return Ok(None) };
    let newest = store::memory::text(conn, tenant_id, document.id, document.version).await?;
    let text = newest.map(|newest| newest.document.to_text()).unwrap_or_default();
    Ok(Some(MemoryText { document, text }))
}

/// Compares two versions of a document. Without `from` the newer one is compared with the version before it.
///
/// # Errors
/// [`Error::NotFound`] if there is no such document or version.
pub async fn diff(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    path: MemoryPath,
    from: Option<u64>,
    to: Option<u64>,
) -> Result<VersionDiff> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let document = found(conn, tenant_id, &agent, &path).await?;
        diff_on(conn, tenant_id, &document, from, to).await
    });
    read.await
}

/// [`diff`] on an open connection.
pub(crate) async fn diff_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    document: &MemoryDocumentRecord,
    from: Option<u64>,
    to: Option<u64>,
) -> Result<VersionDiff> {
    let to = version_on(conn, tenant_id, document.id, to.unwrap_or(document.version)).await?;
    let from = from.unwrap_or(to.version.version - 1);
    let from = if from == 0 { None } else { Some(version_on(conn, tenant_id, document.id, from).await?) };
    Ok(VersionDiff::of(from, to))
}

/// Finds a document by its path, deleted or not.
pub(super) async fn found(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    path: &MemoryPath,
) -> Result<MemoryDocumentRecord> {
    store::memory::find_by_path(conn, tenant_id, agent, path).await?.ok_or(Error::NotFound("memory document"))
}

/// Returns a version of a document with its text. The document may be deleted.
///
/// # Errors
/// [`Error::NotFound`] if there was never such a document, or if it has no such version.
pub async fn read_version(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    path: MemoryPath,
    version: u64,
) -> Result<MemoryVersionText> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let document = found(conn, tenant_id, &agent, &path).await?;
        version_on(conn, tenant_id, document.id, version).await
    });
    read.await
}

pub(super) async fn version_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: MemoryDocumentId,
    version: u64,
) -> Result<MemoryVersionText> {
    store::memory::text(conn, tenant_id, id, version).await?.ok_or(Error::NotFound("version"))
}

/// Returns one page of a document's versions, newest first. The document may be deleted.
///
/// # Errors
/// [`Error::NotFound`] if there was never such a document; [`Error::Invalid`] for a limit above 1,000;
/// [`Error::InvalidCursor`] for a cursor of another list.
pub async fn versions(
    ledger: &Ledger,
    scope: &Scope,
    agent: &str,
    path: MemoryPath,
    page: ListPage,
) -> Result<Listed<MemoryVersionRecord>> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let (before, limit) = page.before_version(List::MemoryVersions)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let document = found(conn, tenant_id, &agent, &path).await?;
        let page = store::memory::versions(conn, tenant_id, document.id, before, limit).await?;
        Ok(Listed::of(page, |last| encode_version(List::MemoryVersions, last.version)))
    });
    read.await
}

/// Returns one page of the versions of all documents of an agent, newest first.
///
/// # Errors
/// [`Error::NotFound`] if `agent` is not a slug; [`Error::Invalid`] for a limit above 1,000; [`Error::InvalidCursor`]
/// for a cursor of another list.
pub async fn audit(ledger: &Ledger, scope: &Scope, agent: &str, page: ListPage) -> Result<Listed<MemoryVersionRecord>> {
    require(scope, Permission::Read)?;
    check_agent(agent)?;
    let (before, limit) = page.before_id(List::MemoryAudit)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let before = before.map(MemoryVersionId);
        let page = store::memory::audit(conn, tenant_id, &agent, before, limit).await?;
        Ok(Listed::of(page, |last| encode(List::MemoryAudit, last.id.0)))
    });
    read.await
}
