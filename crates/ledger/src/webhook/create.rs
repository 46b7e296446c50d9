//! Adding a webhook.

use super::secret::secret;
use crate::{
    Error, Ledger, Result, WebhookRecord,
    audit::Act,
    guard::{Fields, require},
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::WebhookId,
    limit::{WEBHOOK_URL_BYTES_MAX, WEBHOOKS_MAX},
    notification::Topic,
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
