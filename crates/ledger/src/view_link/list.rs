//! Listing the links to a form.

use crate::{Error, Ledger, Result, ViewLinkRecord, guard::require};
use domain::{Scope, id::ViewId, limit::VIEW_LINKS_MAX, role::Permission};

/// Returns the links of a view that work, newest first.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view.
pub async fn list(ledger: &Ledger, scope: &Scope, view_id: ViewId) -> Result<Vec<ViewLinkRecord>> {
    require(scope, Permission::ManageViews)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    ledger
        .snapshot(scope, move |conn| {
            Box::pin(async move {
                store::view::find(conn, tenant_id, view_id).await?.ok_or(Error::NotFound("view"))?;
                Ok(store::view_link::of_view(conn, (tenant_id, view_id), now, VIEW_LINKS_MAX).await?)
            })
        })
        .await
}
