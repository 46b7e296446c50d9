//! Adding an MCP server.

use super::{ADMINS_ONLY, check, secret::seal};
use crate::{
    Error, InstanceKey, Ledger, McpServerRecord, Result,
    audit::Act,
    guard::{require, require_for, slug_or_of_name},
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    id::McpServerId,
    mcp::{Definition, Transport},
    role::Permission,
    tool::Secret,
};
use std::collections::BTreeMap;

/// The fields of a new MCP server.
#[derive(Debug, Clone)]
pub struct NewMcpServer {
    /// Made from the name when `None`. It never changes, because tools refer to it.
    pub slug: Option<String>,
    /// 1 to 200 characters.
    pub name: String,
    /// How the server is reached.
    pub transport: Transport,
    /// Values of its secret headers. Only for admins.
    pub secret_headers: BTreeMap<String, Secret>,
}

/// Adds an MCP server. It is not called.
///
/// # Errors
/// [`Error::NameTaken`] if the slug is taken; [`Error::Invalid`] for wrong fields; [`Error::Forbidden`] for secret
/// headers of a caller who is no admin; [`Error::NoInstanceKey`] if there are secret headers and no key.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewMcpServer) -> Result<McpServerRecord> {
    require(scope, Permission::ManageTools)?;
    if !new.secret_headers.is_empty() {
        require_for(scope, Permission::Administer, ADMINS_ONLY)?;
    }
    let (now, tenant_id) = (ledger.now(), scope.tenant_id);
    let actor = scope.caller.to_string();
    let secret_headers = new.secret_headers.keys().cloned().collect();
    let record = McpServerRecord {
        id: McpServerId::new(now, ledger.entropy()),
        slug: slug_or_of_name(new.slug, &new.name)?,
        definition: Definition { name: new.name, transport: new.transport, secret_headers },
        revision: 1,
        listed_at: None,
        tool_count: None,
        created_by: actor.clone(),
        updated_by: actor,
        created_at: now,
        updated_at: now,
    };
    check(&record, &new.secret_headers)?;
    let sealed = if new.secret_headers.is_empty() {
        None
    } else {
        let nonce = InstanceKey::nonce(ledger.entropy());
        seal(ledger.instance_key()?, (tenant_id, record.id), nonce, &new.secret_headers)?
    };
    let act = Act::new(Kind::McpServerCreated, scope.caller, now).on(TargetKind::McpServer, record.id.0);
    let written = ledger.write(scope.into(), async move |tx| {
        if !store::mcp_server::insert(tx, tenant_id, &record, sealed.as_deref()).await? {
            return Err(Error::NameTaken("the slug"));
        }
        act.record(tx, tenant_id).await?;
        Ok(record)
    });
    written.await
}
