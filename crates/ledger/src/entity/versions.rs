//! Listing the versions of an entity.

use super::get_on;
use crate::{
    EntityVersionRecord, Ledger, Listed, Result,
    cursor::{List, decode_version, encode_version, page_size},
    guard::require,
};
use domain::{
    Scope,
    id::{EntityId, TenantId},
    role::Permission,
};
use store::Conn;

/// Which page of the list to return.
#[derive(Debug, Clone, Default)]
pub struct ListVersions {
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// Returns the cursor of the page that begins after this version.
pub fn cursor_after(version: u64) -> String {
    encode_version(List::EntityVersions, version)
}

/// A checked [`ListVersions`] with a decoded cursor.
pub(crate) struct VersionsQuery {
    before: Option<u64>,
    limit: u32,
}

impl VersionsQuery {
    /// Checks the query and decodes its cursor.
    pub(crate) fn of(query: &ListVersions) -> Result<Self> {
        let before = query.cursor.as_deref().map(|cursor| decode_version(List::EntityVersions, cursor)).transpose()?;
        Ok(Self { before, limit: page_size(query.limit)? })
    }
}

/// Returns one page of versions, newest first.
pub async fn list_versions(
    ledger: &Ledger,
    scope: &Scope,
    id: EntityId,
    query: ListVersions,
) -> Result<Listed<EntityVersionRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, asked) = (scope.tenant_id, VersionsQuery::of(&query)?);
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            get_on(conn, tenant_id, id).await?;
            versions_on(conn, tenant_id, id, asked).await
        })
    });
    read.await
}

/// [`list_versions`] on an open connection. The entity must exist.
pub(crate) async fn versions_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: EntityId,
    asked: VersionsQuery,
) -> Result<Listed<EntityVersionRecord>> {
    let page = store::entity::versions(conn, tenant_id, id, asked.before, asked.limit).await?;
    let next_cursor = page.items.last().filter(|_| page.has_more).map(|last| cursor_after(last.version));
    Ok(Listed { items: page.items, next_cursor })
}
