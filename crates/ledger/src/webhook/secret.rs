//! Secrets and signatures of webhooks, according to the Standard Webhooks specification. Secrets are derived
//! from the instance key and the webhook's id.

use crate::{InstanceKey, instance_key::hmac_sha256};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::id::{TenantId, WebhookId};

const PURPOSE: &str = "webhook";

fn derived(key: &InstanceKey, tenant_id: TenantId, id: WebhookId) -> [u8; 32] {
    key.derive(PURPOSE, &[tenant_id.0.as_bytes(), id.0.as_bytes()])
}

/// Returns the secret in the format of receivers' libraries: `whsec_` and base64.
pub(super) fn secret(key: &InstanceKey, tenant_id: TenantId, id: WebhookId) -> String {
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
