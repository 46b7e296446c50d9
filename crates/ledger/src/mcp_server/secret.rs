//! The values of secret headers. They are encrypted together, with a key that is derived from the instance key for one
//! server.

use crate::{
    Error, Result,
    instance_key::{InstanceKey, SealNonce},
};
use domain::{
    id::{McpServerId, TenantId},
    tool::Secret,
};
use std::collections::BTreeMap;

const PURPOSE: &str = "mcp server headers";

/// Identifies the headers of a server.
pub(super) type Place = (TenantId, McpServerId);

/// Encrypts the headers of a server; `None` if it has none.
///
/// # Errors
/// [`Error::Internal`] if they cannot be encrypted.
pub(super) fn seal(
    key: &InstanceKey,
    (tenant_id, id): Place,
    nonce: SealNonce,
    values: &BTreeMap<String, Secret>,
) -> Result<Option<Vec<u8>>> {
    if values.is_empty() {
        return Ok(None);
    }
    let texts: BTreeMap<&str, &str> = values.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    let text = serde_json::to_vec(&texts).map_err(|error| Error::Internal(error.to_string()))?;
    let sealed = key.seal(PURPOSE, &[tenant_id.0.as_bytes(), id.0.as_bytes()], nonce, &text);
    sealed.map(Some).ok_or_else(|| Error::Internal("secret headers cannot be encrypted".to_owned()))
}

/// Decrypts the headers of a server.
///
/// # Errors
/// [`Error::NotNow`] if they were encrypted with another key, or for another server.
pub(super) fn open(key: &InstanceKey, (tenant_id, id): Place, sealed: &[u8]) -> Result<BTreeMap<String, Secret>> {
    let opened = key.open(PURPOSE, &[tenant_id.0.as_bytes(), id.0.as_bytes()], sealed);
    opened.and_then(|text| serde_json::from_slice(&text).ok()).ok_or(Error::NotNow(
        "the secret headers of this MCP server were encrypted with another instance key; an admin has to set them",
    ))
}
