//! Removing a webhook.

use crate::{Error, Ledger, Result, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::WebhookId,
    role::Permission,
};

/// Removes a webhook. Messages that are not delivered yet are given up.
///
/// # Errors
/// [`Error::NotFound`] if there is no such webhook.
pub async fn delete(ledger: &Ledger, scope: &Scope, id: WebhookId) -> Result<()> {
    require(scope, Permission::Administer)?;
    let tenant_id = scope.tenant_id;
    let deleted = Act::new(Kind::WebhookDeleted, scope.caller, ledger.now()).on(TargetKind::Webhook, id.0);
    let known = ledger.write(scope.into(), async move |tx| {
        let known = store::webhook::delete(tx, tenant_id, id).await?;
        if known {
            deleted.record(tx, tenant_id).await?;
        }
        Ok(known)
    });
    if known.await? { Ok(()) } else { Err(Error::NotFound("webhook")) }
}
