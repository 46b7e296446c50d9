//! Address and secrets for a call of an MCP server.

use super::{get_on, secret::open};
use crate::{Error, Ledger, Result, guard::require};
use domain::{Caller, Scope, mcp::Definition, role::Permission, tool::http::Secrets};

/// How to reach an MCP server, with the values of its secret headers. They must not leave the call.
#[derive(Debug, Clone)]
pub struct Target {
    /// Slug of the server.
    pub slug: String,
    /// Slug of its workspace.
    pub workspace: String,
    /// How the server is reached.
    pub definition: Definition,
    /// Revision of the definition.
    pub revision: u64,
    /// Values of the secret headers by their names.
    pub secrets: Secrets,
}

/// Returns how to reach an MCP server, for a call of this server.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such server; [`Error::NoInstanceKey`] and [`Error::NotNow`] if its
/// secret headers cannot be decrypted.
pub async fn target(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<Target> {
    if scope.caller != Caller::System {
        require(scope, Permission::ManageTools)?;
    }
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let server = get_on(conn, tenant_id, &slug).await?;
        let sealed = store::mcp_server::sealed(conn, tenant_id, server.id).await?;
        let tenant = store::tenant::find(conn, tenant_id).await?.ok_or(Error::NotFound("workspace"))?;
        Ok((server, sealed, tenant.slug))
    });
    let (server, sealed, workspace) = read.await?;
    let secrets = match sealed {
        Some(sealed) => Secrets::new(open(ledger.instance_key()?, (tenant_id, server.id), &sealed)?),
        None => Secrets::default(),
    };
    Ok(Target { slug: server.slug, workspace, definition: server.definition, revision: server.revision, secrets })
}
