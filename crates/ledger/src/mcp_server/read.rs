//! Reading the MCP servers of a workspace.

use super::get_on;
use crate::{
    Ledger, ListPage, Listed, McpServerRecord, Result,
    cursor::{List, encode},
    guard::require,
};
use domain::{Scope, id::McpServerId, role::Permission};

/// Returns an MCP server, without the values of its secret headers.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such server.
pub async fn get(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<McpServerRecord> {
    require(scope, Permission::ManageTools)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    ledger.snapshot(scope, async move |conn| get_on(conn, tenant_id, &slug).await).await
}

/// Returns one page of the MCP servers of a workspace, newest first.
///
/// # Errors
/// [`crate::Error::Invalid`] for a limit above 1,000; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<McpServerRecord>> {
    require(scope, Permission::ManageTools)?;
    let (tenant_id, (before, limit)) = (scope.tenant_id, page.before_id(List::McpServers)?);
    let read = ledger.snapshot(scope, async move |conn| {
        let page = store::mcp_server::list(conn, tenant_id, before.map(McpServerId), limit).await?;
        Ok(Listed::of(page, |last| encode(List::McpServers, last.id.0)))
    });
    read.await
}
