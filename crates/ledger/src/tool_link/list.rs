//! Listing links to a tool.

use crate::{Ledger, Result, ToolLinkRecord, guard::require, tool::get_on};
use domain::{
    Scope,
    id::{TenantId, ToolId},
    role::Permission,
};
use store::Conn;

/// Number of links to one tool that are listed.
const LISTED: u32 = 100;

/// Returns the newest links to a tool, whether they work or not, newest first.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such tool.
pub async fn list(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<Vec<ToolLinkRecord>> {
    require(scope, Permission::ManageTools)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let tool = get_on(conn, tenant_id, &slug).await?;
        newest_on(conn, tenant_id, tool.id).await
    });
    read.await
}

/// [`list`] on an open connection, of a tool that was found.
pub(crate) async fn newest_on(conn: &mut Conn<'_>, tenant_id: TenantId, id: ToolId) -> Result<Vec<ToolLinkRecord>> {
    Ok(store::tool_link::of_tool(conn, (tenant_id, id), LISTED).await?)
}
