//! Listing the versions of an entity.

use super::get_on;
use crate::{
    EntityVersionRecord, Ledger, ListPage, Listed, Result,
    cursor::{List, encode_version},
    guard::require,
};
use domain::{
    Scope,
    id::{EntityId, TenantId},
    role::Permission,
};
use store::Conn;

/// Returns the cursor of the page that begins after this version.
pub fn cursor_after(version: u64) -> String {
    encode_version(List::EntityVersions, version)
}

/// Returns one page of versions, newest first.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such entity; [`crate::Error::Invalid`] for a limit above 1,000;
/// [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list_versions(
    ledger: &Ledger,
    scope: &Scope,
    id: EntityId,
    page: ListPage,
) -> Result<Listed<EntityVersionRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, (before, limit)) = (scope.tenant_id, page.before_version(List::EntityVersions)?);
    ledger
        .snapshot(scope, async move |conn| {
            get_on(conn, tenant_id, id).await?;
            versions_on(conn, tenant_id, id, before, limit).await
        })
        .await
}

/// [`list_versions`] on an open connection. The entity must exist.
pub(crate) async fn versions_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: EntityId,
    before: Option<u64>,
    limit: u32,
) -> Result<Listed<EntityVersionRecord>> {
    let page = store::entity::versions(conn, tenant_id, id, before, limit).await?;
    Ok(Listed::of(page, |last| cursor_after(last.version)))
}
