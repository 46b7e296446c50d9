//! Removing a webhook.

use crate::{Error, Ledger, Result, guard::require};
use domain::{Scope, id::WebhookId, role::Permission};

/// Removes a webhook. Messages that are not delivered yet are given up.
///
/// # Errors
/// [`Error::NotFound`] if there is no such webhook.
pub async fn delete(ledger: &Ledger, scope: &Scope, id: WebhookId) -> Result<()> {
    require(scope, Permission::Administer)?;
    let tenant_id = scope.tenant_id;
    let known = ledger.store().write::<_, Error, _>(scope.into(), move |tx| {
        Box::pin(async move { Ok(store::webhook::delete(tx, tenant_id, id).await?) })
    });
    if known.await? { Ok(()) } else { Err(Error::NotFound("webhook")) }
}
