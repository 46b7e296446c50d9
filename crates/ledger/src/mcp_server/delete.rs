//! Deleting an MCP server.

use super::locked;
use crate::{Ledger, Result, audit::Act, guard::require};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    role::Permission,
};

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
