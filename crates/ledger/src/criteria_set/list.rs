//! The criteria sets of a workspace.

use crate::{
    CriteriaSetRecord, Ledger, ListPage, Listed, Result,
    cursor::{List, encode},
    guard::require,
};
use domain::{Scope, id::CriteriaSetId, role::Permission};

/// Returns one page of criteria sets at their newest versions, newest set first.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<CriteriaSetRecord>> {
    require(scope, Permission::Read)?;
    let (before, limit) = page.before_id(List::CriteriaSets)?;
    let (tenant_id, before) = (scope.tenant_id, before.map(CriteriaSetId));
    let page = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::criteria_set::list(conn, tenant_id, before, limit)))
        .await?;
    Ok(Listed::of(page, |last| encode(List::CriteriaSets, last.id.0)))
}
