//! Listing the published versions of a view.

use super::get::get_on;
use crate::{
    Ledger, ListPage, Listed, Result, ViewVersionRecord,
    cursor::{List, encode_version},
    guard::require,
};
use domain::{
    Scope,
    id::{TenantId, ViewId},
    role::Permission,
};
use store::Conn;

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
