//! Reading the webhooks of a workspace, and their deliveries.

use crate::{Error, Ledger, MessageRecord, Result, WebhookRecord, guard::require};
use domain::{Scope, id::WebhookId, limit::DELIVERIES_LISTED_MAX, role::Permission};

/// Returns the webhooks, oldest first, including disabled ones.
pub async fn list(ledger: &Ledger, scope: &Scope) -> Result<Vec<WebhookRecord>> {
    require(scope, Permission::Administer)?;
    let tenant_id = scope.tenant_id;
    Ok(ledger.store().read(scope.into(), async move |conn| store::webhook::list(conn, tenant_id).await).await?)
}

/// Returns the newest messages to a webhook, newest first, at most [`DELIVERIES_LISTED_MAX`].
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such webhook.
pub async fn deliveries(ledger: &Ledger, scope: &Scope, id: WebhookId) -> Result<Vec<MessageRecord>> {
    require(scope, Permission::Administer)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| {
        if store::webhook::find(conn, tenant_id, id).await?.is_none() {
            return Ok(None);
        }
        store::outbox::of_target(conn, tenant_id, id.0, DELIVERIES_LISTED_MAX).await.map(Some)
    });
    read.await?.ok_or(Error::NotFound("webhook"))
}
