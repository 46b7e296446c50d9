//! Revoking a link to a session.

use crate::{Error, Ledger, Result, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::ShareLinkId,
    role::Permission,
};
use serde_json::json;

/// Revokes a link at once: browsers that opened it earlier cannot read the session any more. Allowed for whoever made
/// the link, and for admins. A repeat changes nothing.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such link, or somebody else made it.
pub async fn revoke(ledger: &Ledger, scope: &Scope, id: ShareLinkId) -> Result<()> {
    require(scope, Permission::Read)?;
    let (now, caller) = (ledger.now(), *scope);
    let revoked = ledger.write(scope.into(), async move |tx| {
        let link = store::share_link::find(tx.conn(), id).await?;
        let is_allowed = |made_by: &str| caller.may(Permission::Administer) || made_by == caller.caller.to_string();
        let link = link.filter(|link| link.tenant_id == caller.tenant_id && is_allowed(&link.created_by));
        let link = link.ok_or(Error::NotFound("link"))?;
        if store::share_link::revoke(tx, caller.tenant_id, id, now).await? {
            let act = Act::new(Kind::ShareRevoked, caller.caller, now).on(TargetKind::Session, link.session_id.0);
            act.with(json!({ "link": id })).record(tx, caller.tenant_id).await?;
        }
        Ok(())
    });
    revoked.await
}
