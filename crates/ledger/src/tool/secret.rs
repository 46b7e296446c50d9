//! Secrets of tools. A value is encrypted with a key that is derived from the instance key for this secret of this
//! tool, so a row that is copied to another tool or name cannot be decrypted.

use super::{get_on, locked};
use crate::{
    Error, InstanceKey, Ledger, Result, ToolSecretRecord,
    audit::Act,
    guard::{Fields, require_for},
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::{TenantId, ToolId},
    limit::{TOOL_SECRET_BYTES_MAX, TOOL_SECRET_NAME_CHARS_MAX, TOOL_SECRETS_MAX},
    role::Permission,
    tool::{Secret, is_secret_name},
};
use serde_json::json;

const PURPOSE: &str = "tool secret";
const ADMINS_ONLY: &str = "only admins can manage the secrets of tools";

/// Identifies a secret: workspace, tool and name.
type Place<'a> = (TenantId, ToolId, &'a str);

/// Decrypts a stored value.
///
/// # Errors
/// [`Error::NotNow`] if it was encrypted with another key, or for another place.
pub(super) fn open(key: &InstanceKey, (tenant_id, id, name): Place<'_>, sealed: &[u8]) -> Result<Secret> {
    let of: [&[u8]; 3] = [tenant_id.0.as_bytes(), id.0.as_bytes(), name.as_bytes()];
    let opened = key.open(PURPOSE, &of, sealed).and_then(|bytes| String::from_utf8(bytes).ok());
    opened.map(Secret::new).ok_or(Error::NotNow(
        "a secret of this tool was encrypted with another instance key; an admin has to set it again",
    ))
}

/// Returns the names of a tool's secrets, sorted, with who set each and when. For admins.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool.
pub async fn secrets(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<Vec<ToolSecretRecord>> {
    require_for(scope, Permission::Administer, ADMINS_ONLY)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let tool = get_on(conn, tenant_id, &slug).await?;
        Ok(store::tool::secrets(conn, tenant_id, tool.id).await?)
    });
    read.await
}

/// Sets a secret of a tool, and replaces its earlier value. The value is never returned. For admins.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::Invalid`] for a wrong name or value;
/// [`Error::LimitReached`] if the tool has too many secrets; [`Error::NoInstanceKey`] if there is no key.
pub async fn set_secret(ledger: &Ledger, scope: &Scope, slug: &str, name: &str, value: Secret) -> Result<()> {
    require_for(scope, Permission::Administer, ADMINS_ONLY)?;
    check(name, &value)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let key = ledger.instance_key()?.clone();
    let nonce = InstanceKey::nonce(ledger.entropy());
    let secret = ToolSecretRecord { name: name.to_owned(), set_by: scope.caller.to_string(), set_at: now };
    let act = Act::new(Kind::ToolSecretSet, scope.caller, now).with(json!({ "secret": name }));
    let slug = slug.to_owned();
    let written = ledger.write(scope.into(), async move |tx| {
        let tool = locked(tx, tenant_id, &slug).await?;
        let known = store::tool::secrets(tx.conn(), tenant_id, tool.id).await?;
        let is_new = known.iter().all(|known| known.name != secret.name);
        if is_new && known.len() >= TOOL_SECRETS_MAX {
            return Err(Error::LimitReached(format!("a tool has at most {TOOL_SECRETS_MAX} secrets")));
        }
        let of: [&[u8]; 3] = [tenant_id.0.as_bytes(), tool.id.0.as_bytes(), secret.name.as_bytes()];
        let sealed = key.seal(PURPOSE, &of, nonce, value.expose().as_bytes());
        let sealed = sealed.ok_or_else(|| Error::Internal("a secret cannot be encrypted".to_owned()))?;
        store::tool::set_secret(tx, tenant_id, tool.id, &secret, &sealed).await?;
        act.on(TargetKind::Tool, tool.id.0).record(tx, tenant_id).await
    });
    written.await
}

fn check(name: &str, value: &Secret) -> Result<()> {
    let mut fields = Fields::default();
    if !is_secret_name(name) {
        let rule =
            format!("1 to {TOOL_SECRET_NAME_CHARS_MAX} letters, digits and underscores of ASCII, a letter first");
        fields.refuse("name", rule);
    }
    let text = value.expose();
    if text.is_empty() || text.len() > TOOL_SECRET_BYTES_MAX || !text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    {
        // A header can have nothing else.
        fields.refuse("value", format!("1 to {TOOL_SECRET_BYTES_MAX} bytes, one line of ASCII characters"));
    }
    fields.check()
}

/// Deletes a secret of a tool. For admins.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool, or the tool has no such secret.
pub async fn delete_secret(ledger: &Ledger, scope: &Scope, slug: &str, name: &str) -> Result<()> {
    require_for(scope, Permission::Administer, ADMINS_ONLY)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let act = Act::new(Kind::ToolSecretDeleted, scope.caller, now).with(json!({ "secret": name }));
    let (slug, name) = (slug.to_owned(), name.to_owned());
    let written = ledger.write(scope.into(), async move |tx| {
        let tool = locked(tx, tenant_id, &slug).await?;
        if !store::tool::delete_secret(tx, tenant_id, tool.id, &name).await? {
            return Err(Error::NotFound("secret"));
        }
        act.on(TargetKind::Tool, tool.id.0).record(tx, tenant_id).await
    });
    written.await
}
