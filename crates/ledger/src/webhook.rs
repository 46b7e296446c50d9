//! Webhooks: URLs of a workspace that receive messages about events. A secret is derived from the instance key and the
//! id of its webhook, and signs as the Standard Webhooks specification says.

use crate::{
    Error, InstanceKey, Ledger, MessageRecord, Result, WebhookRecord,
    audit::Act,
    guard::{Fields, require},
    instance_key::hmac_sha256,
    outbox::{MessageIds, message},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{TenantId, WebhookId},
    limit::{DELIVERIES_LISTED_MAX, WEBHOOK_URL_BYTES_MAX, WEBHOOKS_MAX},
    notification::{DeliveryMethod, Topic},
    role::Permission,
};
use outbound::{Destination, Policy};
use serde_json::json;

/// The fields of a new webhook.
#[derive(Debug, Clone, Default)]
pub struct NewWebhook {
    /// An `https://` or `http://` URL that the policy permits, so not in an internal network.
    pub url: String,
    /// Names of the topics to send, at least one.
    pub events: Vec<String>,
}

/// Adds a webhook and returns its secret, which is not stored. The URL is checked again at every delivery,
/// because its host name may resolve to another address later.
///
/// # Errors
/// [`Error::Invalid`] for wrong fields, [`Error::LimitReached`] if the workspace has too many webhooks,
/// [`Error::NoInstanceKey`] if there is no key to sign with.
pub async fn create(
    ledger: &Ledger,
    scope: &Scope,
    policy: &Policy,
    new: NewWebhook,
) -> Result<(WebhookRecord, String)> {
    require(scope, Permission::Administer)?;
    let (url, topics) = check(new, policy)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let webhook = WebhookRecord {
        id: WebhookId::new(now, ledger.entropy()),
        url,
        topics,
        created_by: scope.caller.to_string(),
        created_at: now,
        disabled_at: None,
        disabled_reason: None,
    };
    let created = Act::new(Kind::WebhookCreated, scope.caller, now)
        .on(TargetKind::Webhook, webhook.id.0)
        .with(json!({ "events": webhook.topics }));
    let secret = secret(ledger.instance_key()?, tenant_id, webhook.id);
    let made = ledger.write(scope.into(), async move |tx| {
        // The lock keeps two requests from exceeding the limit together.
        store::user::lock_admins(tx, tenant_id).await?;
        if store::webhook::list(tx.conn(), tenant_id).await?.len() >= WEBHOOKS_MAX {
            return Err(Error::LimitReached(format!("a workspace has at most {WEBHOOKS_MAX} webhooks")));
        }
        store::webhook::insert(tx, tenant_id, &webhook).await?;
        created.record(tx, tenant_id).await?;
        Ok(webhook)
    });
    Ok((made.await?, secret))
}

fn check(new: NewWebhook, policy: &Policy) -> Result<(String, Vec<Topic>)> {
    let mut fields = Fields::default();
    if new.url.len() > WEBHOOK_URL_BYTES_MAX {
        fields.refuse("url", format!("at most {WEBHOOK_URL_BYTES_MAX} bytes"));
    }
    let destination = Destination::parse(&new.url, policy);
    if let Err(error) = &destination {
        fields.refuse("url", error.to_string());
    }
    let mut topics = Vec::new();
    for (at, name) in new.events.iter().enumerate() {
        match Topic::parse(name).filter(|topic| Topic::SUBSCRIBABLE.contains(topic)) {
            Some(topic) => topics.push(topic),
            None => {
                let known = Topic::SUBSCRIBABLE.map(Topic::as_str).join(", ");
                fields.refuse(&format!("events[{at}]"), format!("one of {known}"));
            }
        }
    }
    if new.events.is_empty() {
        fields.refuse("events", "at least one");
    }
    fields.check()?;
    topics.sort_unstable();
    topics.dedup();
    let url = destination.map(|destination| destination.as_str().to_owned()).unwrap_or_default();
    Ok((url, topics))
}

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

const PURPOSE: &str = "webhook";

fn derived(key: &InstanceKey, tenant_id: TenantId, id: WebhookId) -> [u8; 32] {
    key.derive(PURPOSE, &[tenant_id.0.as_bytes(), id.0.as_bytes()])
}

/// Returns the secret in the format of receivers' libraries: `whsec_` and base64.
fn secret(key: &InstanceKey, tenant_id: TenantId, id: WebhookId) -> String {
    format!("whsec_{}", STANDARD.encode(derived(key, tenant_id, id)))
}

/// The signed headers of a message.
#[derive(Debug, Clone, Copy)]
pub struct Signature<'a> {
    /// Value of the header `webhook-id`.
    pub message_id: &'a str,
    /// Value of the header `webhook-timestamp`: seconds since the Unix epoch.
    pub timestamp: i64,
}

/// Returns the value of the header `webhook-signature` for a body sent to this webhook.
pub fn sign(key: &InstanceKey, tenant_id: TenantId, id: WebhookId, signed: Signature<'_>, body: &[u8]) -> String {
    let timestamp = signed.timestamp.to_string();
    let parts: [&[u8]; 5] = [signed.message_id.as_bytes(), b".", timestamp.as_bytes(), b".", body];
    format!("v1,{}", STANDARD.encode(hmac_sha256(&derived(key, tenant_id, id), &parts)))
}
