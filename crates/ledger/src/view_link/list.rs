//! Listing the links to a form.

use crate::{Ledger, Result, ViewLinkRecord, guard::require};
use domain::{Scope, id::ViewId, limit::VIEW_LINKS_MAX, role::Permission};

/// Returns the links of a view that work, newest first.
pub async fn list(ledger: &Ledger, scope: &Scope, view_id: ViewId) -> Result<Vec<ViewLinkRecord>> {
    require(scope, Permission::ManageViews)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let read = ledger.store().read(scope.into(), move |conn| {
        Box::pin(store::view_link::of_view(conn, (tenant_id, view_id), now, VIEW_LINKS_MAX))
    });
    Ok(read.await?)
}
