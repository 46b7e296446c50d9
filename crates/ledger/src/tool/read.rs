//! Reading tools and their versions.

use crate::{
    Error, Ledger, ListPage, Listed, Result, ToolRecord, ToolVersionRecord,
    cursor::{List, encode, encode_version},
    guard::require,
    list_line::titled,
};
use domain::{
    Scope,
    id::{TenantId, ToolId},
    role::Permission,
    search::Field,
};
use store::Conn;

/// Returns a tool of the workspace with its working copy.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool.
pub async fn get(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<ToolRecord> {
    require(scope, Permission::Read)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    ledger.snapshot(scope, async move |conn| get_on(conn, tenant_id, &slug).await).await
}

/// [`get`] on an open connection.
pub(crate) async fn get_on(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<ToolRecord> {
    store::tool::find_by_slug(conn, tenant_id, slug).await?.ok_or(Error::NotFound("tool"))
}

/// Returns one page of the tools of a workspace with their working copies, newest first.
///
/// # Errors
/// [`Error::Invalid`] for a limit above 1,000; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<ToolRecord>> {
    list_matching(ledger, scope, None, page).await
}

/// Returns one page of the tools that have each word of a search line in the slug, the name or the description, with
/// `title:`, a part of the name. See [`Line`](domain::search::Line).
///
/// # Errors
/// Those of [`list`], and [`Error::Invalid`] for a bad line.
pub async fn list_matching(
    ledger: &Ledger,
    scope: &Scope,
    line: Option<&str>,
    page: ListPage,
) -> Result<Listed<ToolRecord>> {
    require(scope, Permission::Read)?;
    let (titles, texts) = titled(line, &Field::OF_TOOLS)?;
    let (tenant_id, (before, limit)) = (scope.tenant_id, page.before_id(List::Tools)?);
    let read = ledger.snapshot(scope, async move |conn| {
        let page = store::tool::list(conn, tenant_id, (&titles, &texts), before.map(ToolId), limit).await?;
        Ok(Listed::of(page, |last| encode(List::Tools, last.id.0)))
    });
    read.await
}

/// Returns a tool as it was published at a version.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool, or the tool has no such version.
pub async fn get_version(ledger: &Ledger, scope: &Scope, slug: &str, version: u64) -> Result<ToolVersionRecord> {
    require(scope, Permission::Read)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let tool = get_on(conn, tenant_id, &slug).await?;
        let found = store::tool::version_of(conn, tenant_id, tool.id, version).await?;
        found.ok_or(Error::NotFound("tool in that version"))
    });
    read.await
}

/// Returns one page of a tool's versions, newest first.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::Invalid`] for a limit above 1,000;
/// [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list_versions(
    ledger: &Ledger,
    scope: &Scope,
    slug: &str,
    page: ListPage,
) -> Result<Listed<ToolVersionRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let tool = get_on(conn, tenant_id, &slug).await?;
        versions_on(conn, tenant_id, tool.id, &page).await
    });
    read.await
}

/// [`list_versions`] on an open connection. The tool must exist.
pub(crate) async fn versions_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: ToolId,
    page: &ListPage,
) -> Result<Listed<ToolVersionRecord>> {
    let (before, limit) = page.before_version(List::ToolVersions)?;
    let page = store::tool::versions(conn, tenant_id, id, before, limit).await?;
    Ok(Listed::of(page, |last| encode_version(List::ToolVersions, last.version)))
}
