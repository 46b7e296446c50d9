//! The criteria sets of a workspace.

use crate::{
    CriteriaSetRecord, Ledger, Listed, Result,
    cursor::{List, decode, encode, page_size},
    guard::require,
};
use domain::{Scope, id::CriteriaSetId, role::Permission};

/// Which page of the list to return.
#[derive(Debug, Clone, Default)]
pub struct ListCriteriaSets {
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// Returns one page of criteria sets at their newest versions, newest set first.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListCriteriaSets) -> Result<Listed<CriteriaSetRecord>> {
    require(scope, Permission::Read)?;
    let limit = page_size(query.limit)?;
    let before = query.cursor.as_deref().map(|c| decode(List::CriteriaSets, c)).transpose()?.map(CriteriaSetId);
    let tenant_id = scope.tenant_id;
    let page = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::criteria_set::list(conn, tenant_id, before, limit)))
        .await?;
    let next_cursor = page.items.last().filter(|_| page.has_more).map(|last| encode(List::CriteriaSets, last.id.0));
    Ok(Listed { items: page.items, next_cursor })
}
