//! The views of a workspace.

use crate::{
    Ledger, ListPage, Listed, Result, ViewRecord,
    cursor::{List, encode},
    guard::require,
};
use domain::{Scope, id::ViewId, role::Permission};

/// Returns one page of the listed views with their working copies, newest first.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<ViewRecord>> {
    require(scope, Permission::Read)?;
    let (before, limit) = page.before_id(List::Views)?;
    let (tenant_id, before) = (scope.tenant_id, before.map(ViewId));
    let page = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::view::list(conn, tenant_id, before, limit)))
        .await?;
    Ok(Listed::of(page, |last| encode(List::Views, last.id.0)))
}
