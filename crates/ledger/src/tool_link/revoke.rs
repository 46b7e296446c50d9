//! Revoking a link to a tool.

use crate::{Error, Ledger, Result, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::ToolLinkId,
    role::Permission,
};
use serde_json::json;

/// Revokes a link at once: browsers that opened it earlier begin no run and read no result any more. Runs that have
/// begun go on. A repeat changes nothing.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such link.
pub async fn revoke(ledger: &Ledger, scope: &Scope, id: ToolLinkId) -> Result<()> {
    require(scope, Permission::ManageTools)?;
    let (now, caller) = (ledger.now(), *scope);
    let revoked = ledger.write(scope.into(), async move |tx| {
        let link = store::tool_link::find(tx.conn(), id).await?;
        let link = link.filter(|link| link.tenant_id == caller.tenant_id).ok_or(Error::NotFound("link"))?;
        if store::tool_link::revoke(tx, caller.tenant_id, id, now).await? {
            let act = Act::new(Kind::ToolLinkRevoked, caller.caller, now).on(TargetKind::Tool, link.tool_id.0);
            act.with(json!({ "link": id })).record(tx, caller.tenant_id).await?;
        }
        Ok(())
    });
    revoked.await
}
