//! Reads the views of a workspace and their published versions.

use crate::{
    Error, Ledger, ListPage, Listed, Result, ViewRecord, ViewVersionRecord,
    cursor::{List, encode, encode_version},
    guard::require,
    list_line::titled,
};
use domain::{
    Scope,
    id::{TenantId, ViewId},
    role::Permission,
    search::Field,
    slug::is_slug,
};
use store::Conn;

/// Returns a view of the workspace with its working copy.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view.
pub async fn get(ledger: &Ledger, scope: &Scope, id: ViewId) -> Result<ViewRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| get_on(conn, tenant_id, id).await).await
}

/// [`get`] on an open connection.
pub(crate) async fn get_on(conn: &mut Conn<'_>, tenant_id: TenantId, id: ViewId) -> Result<ViewRecord> {
    let found = store::view::find(conn, tenant_id, id).await?;
    found.filter(|view| view.listed).ok_or(Error::NotFound("view"))
}

/// The view with this slug.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view.
pub(crate) async fn get_by_slug_on(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<ViewRecord> {
    let found = store::view::find_by_slug(conn, tenant_id, slug).await?;
    found.filter(|view| view.listed).ok_or(Error::NotFound("view"))
}

/// Returns a view as it was published at a version.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view, or the view has no such version.
pub async fn get_version(ledger: &Ledger, scope: &Scope, id: ViewId, version: u64) -> Result<ViewVersionRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| {
        get_on(conn, tenant_id, id).await?;
        let found = store::view::version_of(conn, tenant_id, id, version).await?;
        found.ok_or(Error::NotFound("view in that version"))
    });
    read.await
}

/// Returns one page of the listed views with their working copies, newest first.
///
/// # Errors
/// [`Error::Invalid`] for a limit above 1,000; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<ViewRecord>> {
    list_matching(ledger, scope, None, page).await
}

/// Returns one page of the listed views that have each word of a search line in the slug, the title or the
/// introduction, with `title:`, a part of the title. See [`Line`](domain::search::Line).
///
/// # Errors
/// Those of [`list`], and [`Error::Invalid`] for a bad line.
pub async fn list_matching(
    ledger: &Ledger,
    scope: &Scope,
    line: Option<&str>,
    page: ListPage,
) -> Result<Listed<ViewRecord>> {
    require(scope, Permission::Read)?;
    let (titles, texts) = titled(line, &Field::OF_FORMS)?;
    let (before, limit) = page.before_id(List::Views)?;
    let (tenant_id, before) = (scope.tenant_id, before.map(ViewId));
    let page = ledger
        .store()
        .read(scope.into(), async move |conn| {
            store::view::list(conn, tenant_id, (&titles, &texts), before, limit).await
        })
        .await?;
    Ok(Listed::of(page, |last| encode(List::Views, last.id.0)))
}

/// Returns the listed view with this slug as the only item of the first page; an empty page if there is none.
///
/// # Errors
/// [`Error::Invalid`] for a text that is not a slug or a limit above 1,000; [`Error::InvalidCursor`] for a cursor of
/// another list.
pub async fn list_by_slug(ledger: &Ledger, scope: &Scope, slug: &str, page: ListPage) -> Result<Listed<ViewRecord>> {
    require(scope, Permission::Read)?;
    let (before, _) = page.before_id(List::Views)?;
    if !is_slug(slug) {
        return Err(Error::invalid("slug", "lower-case letters, digits and single hyphens"));
    }
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let found = ledger
        .store()
        .read(scope.into(), async move |conn| store::view::find_by_slug(conn, tenant_id, &slug).await)
        .await?;
    let items = found.into_iter().filter(|view| view.listed && before.is_none_or(|before| view.id.0 < before));
    Ok(Listed { items: items.collect(), next_cursor: None })
}

/// Returns one page of versions, newest first.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such view; [`crate::Error::Invalid`] for a limit above 1,000;
/// [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list_versions(
    ledger: &Ledger,
    scope: &Scope,
    id: ViewId,
    page: ListPage,
) -> Result<Listed<ViewVersionRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, (before, limit)) = (scope.tenant_id, page.before_version(List::ViewVersions)?);
    ledger
        .snapshot(scope, async move |conn| {
            get_on(conn, tenant_id, id).await?;
            versions_on(conn, tenant_id, id, before, limit).await
        })
        .await
}

/// [`list_versions`] on an open connection. The view must exist.
pub(crate) async fn versions_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: ViewId,
    before: Option<u64>,
    limit: u32,
) -> Result<Listed<ViewVersionRecord>> {
    let page = store::view::versions(conn, tenant_id, id, before, limit).await?;
    Ok(Listed::of(page, |last| encode_version(List::ViewVersions, last.version)))
}
