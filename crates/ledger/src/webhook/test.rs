//! Sending a test message to a webhook.

use crate::{
    Error, Ledger, MessageRecord, Result,
    guard::require,
    outbox::{MessageIds, message},
};
use domain::{
    Scope,
    id::WebhookId,
    notification::{DeliveryMethod, Topic},
    role::Permission,
};
use serde_json::json;

/// Enqueues a message of the topic `webhook.test` for a webhook. It is delivered like every other message.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such webhook; [`Error::Invalid`] if it is disabled.
pub async fn test(ledger: &Ledger, scope: &Scope, id: WebhookId) -> Result<MessageRecord> {
    require(scope, Permission::Administer)?;
    let tenant_id = scope.tenant_id;
    let ids = MessageIds::new(ledger, ledger.now());
    let payload = json!({ "workspaceId": tenant_id, "webhookId": id }).to_string();
    let sent = ledger.write(scope.into(), async move |tx| {
        let webhook = store::webhook::find(tx.conn(), tenant_id, id).await?.ok_or(Error::NotFound("webhook"))?;
        if let Some(reason) = webhook.disabled_reason {
            return Err(Error::invalid("id", format!("this webhook is disabled: {reason}")));
        }
        let message = message(&ids, tenant_id, (DeliveryMethod::Webhook, id.0), Topic::Test, payload);
        store::outbox::push(tx, &message).await?;
        Ok(message)
    });
    sent.await
}
