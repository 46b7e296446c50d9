//! Listing links to a tool.

use crate::{Ledger, Result, ToolLinkRecord, guard::require, tool::get_on};
use domain::{
    Scope, Timestamp,
    id::{TenantId, ToolId},
    role::Permission,
};
use store::Conn;

/// Number of links to one tool that are listed, beside older ones that work.
const LISTED: u32 = 100;

/// Returns the newest 100 links to a tool, whether they work or not, and all that work, newest first.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such tool.
pub async fn list(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<Vec<ToolLinkRecord>> {
    require(scope, Permission::ManageTools)?;
    let (tenant_id, now, slug) = (scope.tenant_id, ledger.now(), slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let tool = get_on(conn, tenant_id, &slug).await?;
        newest_on(conn, tenant_id, tool.id, now).await
    });
    read.await
}

/// [`list`] on an open connection, of a tool that was found.
pub(crate) async fn newest_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: ToolId,
    now: Timestamp,
) -> Result<Vec<ToolLinkRecord>> {
    Ok(store::tool_link::of_tool(conn, (tenant_id, id), LISTED, now).await?)
}
