//! Secrets of tools. A value is encrypted with a key that is derived from the instance key for this secret of this
//! tool, so a row that is copied to another tool or name cannot be decrypted.

use super::{get_on, locked};
use crate::{
    Error, InstanceKey, Ledger, Result, ToolRecord, ToolSecretRecord,
    audit::Act,
    guard::{Fields, require_for, require_version},
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
use store::Conn;

const PURPOSE: &str = "tool secret";
pub(super) const ADMINS_ONLY: &str = "only admins can manage the secrets of tools";

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

/// A secret to set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSecret {
    /// Name by which headers refer to it.
    pub name: String,
    /// One line of ASCII characters, which is stored encrypted.
    pub value: Secret,
    /// The version published last, as the caller read it; 0 if the tool was never published. It may be absent if
    /// setting the secret allows no call that did not get the secrets before.
    pub version: Option<u64>,
}

/// Sets a secret of a tool, and replaces its earlier value. The value is never returned. For admins. Calls of the
/// version published last get the secrets of the tool from now on.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::Invalid`] for a wrong name or value;
/// [`Error::StaleVersion`] if the caller has not read the version published last;
/// [`Error::LimitReached`] if the tool has too many secrets; [`Error::NoInstanceKey`] if there is no key.
pub async fn set_secret(ledger: &Ledger, scope: &Scope, slug: &str, new: NewSecret) -> Result<()> {
    require_for(scope, Permission::Administer, ADMINS_ONLY)?;
    let NewSecret { name, value, version } = new;
    check(&name, &value)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let key = ledger.instance_key()?.clone();
    let nonce = InstanceKey::nonce(ledger.entropy());
    let secret = ToolSecretRecord { name, set_by: scope.caller.to_string(), set_at: now };
    let act = Act::new(Kind::ToolSecretSet, scope.caller, now).with(json!({ "secret": secret.name }));
    let slug = slug.to_owned();
    let written = ledger.write(scope.into(), async move |tx| {
        let tool = locked(tx, tenant_id, &slug).await?;
        require_shown(tx.conn(), tenant_id, &tool, version).await?;
        let known = store::tool::secrets(tx.conn(), tenant_id, tool.id).await?;
        let is_new = known.iter().all(|known| known.name != secret.name);
        if is_new && known.len() >= TOOL_SECRETS_MAX {
            return Err(Error::LimitReached(format!("a tool has at most {TOOL_SECRETS_MAX} secrets")));
        }
        let of: [&[u8]; 3] = [tenant_id.0.as_bytes(), tool.id.0.as_bytes(), secret.name.as_bytes()];
        let sealed = key.seal(PURPOSE, &of, nonce, value.expose().as_bytes());
        let sealed = sealed.ok_or_else(|| Error::Internal("a secret cannot be encrypted".to_owned()))?;
        store::tool::set_secret(tx, tenant_id, tool.id, &secret, &sealed).await?;
        // The admin lets the secret be sent where the tool calls now. A later call needs an admin again.
        if let Some(version) = tool.version {
            store::tool::allow_secrets(tx, tenant_id, (tool.id, version), (&secret.set_by, now)).await?;
        }
        act.on(TargetKind::Tool, tool.id.0).record(tx, tenant_id).await
    });
    written.await
}

/// Refuses a secret that would be sent with a call that the admin has not seen: an operator may have published another
/// version meanwhile.
async fn require_shown(conn: &mut Conn<'_>, tenant_id: TenantId, tool: &ToolRecord, shown: Option<u64>) -> Result<()> {
    let Some(current) = tool.version else { return require_version(shown.unwrap_or_default(), 0) };
    if let Some(shown) = shown {
        return require_version(shown, current);
    }
    let published = store::tool::version_of(conn, tenant_id, tool.id, current).await?;
    let makes_call = published.is_some_and(|published| published.definition.http().is_some());
    if makes_call && !store::tool::gets_secrets(conn, tenant_id, tool.id, current).await? {
        return require_version(0, current);
    }
    Ok(())
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
