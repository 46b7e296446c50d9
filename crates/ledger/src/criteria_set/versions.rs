//! Listing the versions of a criteria set.

use super::get::get_on;
use crate::{
    CriteriaSetRecord, Ledger, ListPage, Listed, Result,
    cursor::{List, encode_version},
    guard::require,
};
use domain::{
    Scope,
    id::{CriteriaSetId, TenantId},
    role::Permission,
};
use store::Conn;

/// Returns one page of versions, newest first.
pub async fn list_versions(
    ledger: &Ledger,
    scope: &Scope,
    id: CriteriaSetId,
    page: ListPage,
) -> Result<Listed<CriteriaSetRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, (before, limit)) = (scope.tenant_id, page.before_version(List::CriteriaSetVersions)?);
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            get_on(conn, tenant_id, id, None).await?;
            versions_on(conn, tenant_id, id, before, limit).await
        })
    });
    read.await
}

/// [`list_versions`] on an open connection. The criteria set must exist.
pub(crate) async fn versions_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: CriteriaSetId,
    before: Option<u64>,
    limit: u32,
) -> Result<Listed<CriteriaSetRecord>> {
    let page = store::criteria_set::versions(conn, tenant_id, id, before, limit).await?;
    Ok(Listed::of(page, |last| encode_version(List::CriteriaSetVersions, last.version)))
}
