//! The criteria sets of a workspace.

use crate::{
    CriteriaSetRecord, Ledger, ListPage, Listed, Result,
    cursor::{List, encode},
    guard::require,
};
use domain::{
    Scope,
    id::{CriteriaSetId, TenantId},
    role::Permission,
};
use store::Conn;

/// Returns one page of criteria sets at their newest versions, newest set first.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<CriteriaSetRecord>> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, move |conn| Box::pin(async move { list_on(conn, tenant_id, page).await })).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    page: ListPage,
) -> Result<Listed<CriteriaSetRecord>> {
    let (before, limit) = page.before_id(List::CriteriaSets)?;
    let page = store::criteria_set::list(conn, tenant_id, before.map(CriteriaSetId), limit).await?;
    Ok(Listed::of(page, |last| encode(List::CriteriaSets, last.id.0)))
}
