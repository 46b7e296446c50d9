//! Listing the published versions of a view.

use super::get::get_on;
use crate::{
    Ledger, ListPage, Listed, Result, ViewVersionRecord,
    cursor::{self, List, encode_version},
};
use domain::{
    Scope,
    id::{TenantId, ViewId},
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
    let tenant_id = scope.tenant_id;
    cursor::list_versions(ledger, scope, List::ViewVersions, page, move |conn, before, limit| {
        Box::pin(async move {
            get_on(conn, tenant_id, id).await?;
            versions_on(conn, tenant_id, id, before, limit).await
        })
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
