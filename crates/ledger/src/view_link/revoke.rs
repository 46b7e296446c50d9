//! Revoking a link to a form.

use crate::{Error, Ledger, Result, guard::require};
use domain::{Scope, id::ViewLinkId, role::Permission};

/// Revokes a link at once: browsers that opened it earlier cannot answer the form any more. A repeat changes nothing.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such link.
pub async fn revoke(ledger: &Ledger, scope: &Scope, id: ViewLinkId) -> Result<()> {
    require(scope, Permission::ManageViews)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let revoked = ledger.store().write::<_, Error, _>(scope.into(), move |tx| {
        Box::pin(async move { Ok(store::view_link::revoke(tx, tenant_id, id, now).await?) })
    });
    if revoked.await? { Ok(()) } else { Err(Error::NotFound("link")) }
}
