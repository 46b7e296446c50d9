//! Revoking a link to a form.

use crate::{Error, Ledger, Result, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::ViewLinkId,
    role::Permission,
};

/// Revokes a link at once: browsers that opened it earlier cannot answer the form any more. A repeat changes nothing.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such link.
pub async fn revoke(ledger: &Ledger, scope: &Scope, id: ViewLinkId) -> Result<()> {
    require(scope, Permission::ManageViews)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let act = Act::new(Kind::LinkRevoked, scope.caller, now).on(TargetKind::ViewLink, id.0);
    let revoked = ledger.write(scope.into(), async move |tx| {
        let changed = store::view_link::revoke(tx, tenant_id, id, now).await?;
        if changed == Some(true) {
            act.record(tx, tenant_id).await?;
        }
        Ok(changed.is_some())
    });
    if revoked.await? { Ok(()) } else { Err(Error::NotFound("link")) }
}
