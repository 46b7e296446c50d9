//! Changing how an MCP server is reached, and deleting one.

use super::{
    ADMINS_ONLY, check, locked, require_transport,
    secret::{open, seal},
};
use crate::{
    Error, InstanceKey, Ledger, McpServerRecord, Result,
    audit::Act,
    guard::{require, require_for, require_revision},
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    limit::TOOL_HEADERS_MAX,
    mcp::{Definition, Transport},
    role::Permission,
    tool::Secret,
};
use std::collections::BTreeMap;

/// Change of one secret header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretChange {
    /// It gets this value.
    Set(Secret),
    /// It is deleted.
    Delete,
}

/// Parts to replace, and what they are based on. A part that is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct McpServerChange {
    /// The revision that the caller read.
    pub revision: u64,
    /// Name that people read.
    pub name: Option<String>,
    /// How the server is reached, as a whole.
    pub transport: Option<Transport>,
    /// Secret headers by their names. Those that are not in it stay.
    pub secret_headers: BTreeMap<String, SecretChange>,
}

/// Changes an MCP server. Calls use the change at once. If nothing differs, nothing is written.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such server; [`Error::StaleRevision`] if it was changed
/// since the caller read it; [`Error::Invalid`] for wrong fields; [`Error::Forbidden`] for a caller who
/// is no admin and sets secret headers, or changes where they are sent; [`Error::NoInstanceKey`] and
/// [`Error::NotNow`] if the secret headers cannot be decrypted.
pub async fn update(ledger: &Ledger, scope: &Scope, slug: &str, change: McpServerChange) -> Result<McpServerRecord> {
    require(scope, Permission::ManageTools)?;
    if !change.secret_headers.is_empty() {
        require_for(scope, Permission::Administer, ADMINS_ONLY)?;
    }
    if change.secret_headers.len() > TOOL_HEADERS_MAX {
        return Err(Error::invalid("secretHeaders", format!("at most {TOOL_HEADERS_MAX}")));
    }
    let (scope, now, slug) = (*scope, ledger.now(), slug.to_owned());
    let key = ledger.instance_key().cloned();
    let nonce = InstanceKey::nonce(ledger.entropy());
    let act = Act::new(Kind::McpServerChanged, scope.caller, now);
    let written = ledger.write((&scope).into(), async move |tx| {
        let before = locked(tx, scope.tenant_id, &slug).await?;
        require_revision(change.revision, before.revision)?;
        let had = &before.definition.secret_headers;
        let transport = change.transport.unwrap_or_else(|| before.definition.transport.clone());
        require_transport(&scope, &before.definition, &transport)?;
        let set: BTreeMap<String, Secret> = change.secret_headers.iter().filter_map(value_set).collect();
        let kept = had.iter().filter(|name| !change.secret_headers.contains_key(*name));
        let definition = Definition {
            name: change.name.unwrap_or_else(|| before.definition.name.clone()),
            transport,
            secret_headers: kept.chain(set.keys()).cloned().collect(),
        };
        if definition == before.definition && set.is_empty() {
            return Ok(before);
        }
        let place = (scope.tenant_id, before.id);
        let mut sealed = store::mcp_server::sealed(tx.conn(), scope.tenant_id, before.id).await?;
        if !change.secret_headers.is_empty() {
            let key = key?;
            let mut values = match &sealed {
                Some(sealed) => open(&key, place, sealed)?,
                None => BTreeMap::new(),
            };
            values.extend(set.clone());
            values.retain(|name, _| definition.secret_headers.contains(name));
            sealed = seal(&key, place, nonce, &values)?;
        }
        let (revision, updated_by) = (before.revision + 1, scope.caller.to_string());
        let record = McpServerRecord { definition, revision, updated_by, updated_at: now, ..before };
        check(&record, &set)?;
        store::mcp_server::update(tx, scope.tenant_id, &record, sealed.as_deref()).await?;
        act.on(TargetKind::McpServer, record.id.0).record(tx, scope.tenant_id).await?;
        Ok(record)
    });
    written.await
}

/// The value that a change sets, if it sets one.
fn value_set((name, change): (&String, &SecretChange)) -> Option<(String, Secret)> {
    match change {
        SecretChange::Set(value) => Some((name.clone(), value.clone())),
        SecretChange::Delete => None,
    }
}

/// Deletes an MCP server with its secret headers and its listed tools. Tools of the workspace that call it stay, and
/// their runs fail.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such server.
pub async fn delete(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<()> {
    require(scope, Permission::ManageTools)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let act = Act::new(Kind::McpServerDeleted, scope.caller, ledger.now());
    let written = ledger.write(scope.into(), async move |tx| {
        let server = locked(tx, tenant_id, &slug).await?;
        store::mcp_server::delete(tx, tenant_id, server.id).await?;
        act.on(TargetKind::McpServer, server.id.0).record(tx, tenant_id).await
    });
    written.await
}
