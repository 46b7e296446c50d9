//! The secrets of webhooks, derived from the instance's key and the row's id, and what is signed with them: the
//! Standard Webhooks specification.

use crate::{InstanceKey, instance_key::hmac_sha256};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::id::{TenantId, WebhookId};

const PURPOSE: &str = "webhook";

fn derived(key: &InstanceKey, tenant_id: TenantId, id: WebhookId) -> [u8; 32] {
    key.derive(PURPOSE, &[tenant_id.0.as_bytes(), id.0.as_bytes()])
}

/// The secret as receivers' libraries take it.
pub(super) fn secret(key: &InstanceKey, tenant_id: TenantId, id: WebhookId) -> String {
    format!("whsec_{}", STANDARD.encode(derived(key, tenant_id, id)))
}

/// What is signed besides the body.
#[derive(Debug, Clone, Copy)]
pub struct Signature<'a> {
    /// The header `webhook-id`.
    pub message_id: &'a str,
    /// The header `webhook-timestamp`: seconds since the Unix epoch.
    pub timestamp: i64,
}

/// The header `webhook-signature` of a body that goes to this webhook.
pub fn sign(key: &InstanceKey, tenant_id: TenantId, id: WebhookId, signed: Signature<'_>, body: &[u8]) -> String {
    let timestamp = signed.timestamp.to_string();
    let parts: [&[u8]; 5] = [signed.message_id.as_bytes(), b".", timestamp.as_bytes(), b".", body];
    format!("v1,{}", STANDARD.encode(hmac_sha256(&derived(key, tenant_id, id), &parts)))
}
