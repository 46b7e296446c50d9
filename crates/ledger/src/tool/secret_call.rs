//! Where the secrets of a tool are sent. An operator may change the call of a tool, and could read its secrets at an
//! address of their own. So secrets are sent only with calls that an admin allowed: those of versions that an admin
//! published, or for which an admin set a secret, and of later versions that make the same call. A test keeps for its
//! own session whether its call gets them.

use super::{get_on, secret::ADMINS_ONLY as ADMINS_MANAGE};
use crate::{
    Error, Ledger, Result, ToolRecord,
    guard::{require, require_for},
};
use domain::{
    Scope,
    id::TenantId,
    role::Permission,
    tool::{
        Definition, Method,
        http::{Secrets, secret_names},
        run::ToolRun,
    },
};
use store::Conn;

const ADMINS_ONLY: &str = "this tool has secrets, and the working copy makes another call than the published version; \
     only an admin can test or publish it, because the secrets are sent with that call";

/// Whether the call of a definition gets the secrets of its tool if the caller publishes or tests it.
///
/// # Errors
/// [`Error::Forbidden`] if it does not get them, and there are some.
pub(crate) async fn gets_secrets(
    conn: &mut Conn<'_>,
    scope: &Scope,
    tool: &ToolRecord,
    definition: &Definition,
) -> Result<bool> {
    if scope.may(Permission::Administer) || makes_allowed_call(conn, scope.tenant_id, tool, definition).await? {
        return Ok(true);
    }
    let has_secrets = !store::tool::secrets(conn, scope.tenant_id, tool.id).await?.is_empty();
    if has_secrets && definition.http().is_some() { Err(Error::Forbidden(ADMINS_ONLY)) } else { Ok(false) }
}

/// Whether a definition makes the call of the version published last, which gets the secrets.
async fn makes_allowed_call(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    tool: &ToolRecord,
    definition: &Definition,
) -> Result<bool> {
    let Some(version) = tool.version else { return Ok(false) };
    if !store::tool::gets_secrets(conn, tenant_id, tool.id, version).await? {
        return Ok(false);
    }
    let published = store::tool::version_of(conn, tenant_id, tool.id, version).await?;
    Ok(published.is_some_and(|published| published.definition.http() == definition.http()))
}

/// Whether only an admin may publish or test the working copy, and the caller is none.
pub(crate) async fn needs_admin_on(conn: &mut Conn<'_>, scope: &Scope, tool: &ToolRecord) -> Result<bool> {
    match gets_secrets(conn, scope, tool, &tool.definition).await {
        Ok(_) => Ok(false),
        Err(Error::Forbidden(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Returns a tool with its working copy, and whether only an admin may publish or test it and the caller is none.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool.
pub async fn get_to_edit(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<(ToolRecord, bool)> {
    require(scope, Permission::Read)?;
    let (reader, slug) = (*scope, slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let tool = get_on(conn, reader.tenant_id, &slug).await?;
        let needs_admin = needs_admin_on(conn, &reader, &tool).await?;
        Ok((tool, needs_admin))
    });
    read.await
}

/// A call that gets the secrets of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretCall {
    /// The version that makes it; `None` for the working copy, which makes it when an admin tests or publishes it.
    pub version: Option<u64>,
    /// Method of the call.
    pub method: Method,
    /// Its address, with the names of the fields that are put into it.
    pub url: String,
}

/// Returns where the secrets of a tool are sent: by the version published last, as soon as they are set, and by the
/// working copy. Empty for a tool that makes no HTTP call. For admins.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool.
pub async fn secret_calls(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<Vec<SecretCall>> {
    require_for(scope, Permission::Administer, ADMINS_MANAGE)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let tool = get_on(conn, tenant_id, &slug).await?;
        let published = match tool.version {
            Some(version) => store::tool::version_of(conn, tenant_id, tool.id, version).await?,
            None => None,
        };
        let published = published.and_then(|of| call_of(Some(of.version), &of.definition));
        Ok(published.into_iter().chain(call_of(None, &tool.definition)).collect())
    });
    read.await
}

fn call_of(version: Option<u64>, definition: &Definition) -> Option<SecretCall> {
    let call = definition.http()?;
    Some(SecretCall { version, method: call.method, url: call.url.clone() })
}

/// Whether the call of a run gets the secrets of its tool.
pub(crate) async fn run_gets_secrets(conn: &mut Conn<'_>, tenant_id: TenantId, run: &ToolRun) -> Result<bool> {
    match run.revision {
        Some(_) => Ok(run.test_gets_secrets),
        None => Ok(store::tool::gets_secrets(conn, tenant_id, run.id, run.version).await?),
    }
}

/// The secrets that a call is made with: none, if it does not get them.
///
/// # Errors
/// [`Error::NotNow`] if the call does not get secrets that it names.
pub(crate) fn secrets_of_call(secrets: Secrets, definition: &Definition, gets_them: bool) -> Result<Secrets> {
    let named = definition.http().map(secret_names).unwrap_or_default();
    if gets_them {
        return Ok(secrets);
    }
    if named.iter().any(|name| secrets.get(name).is_some()) {
        return Err(Error::NotNow("an admin has not allowed its secrets to be sent with this call"));
    }
    Ok(Secrets::default())
}
