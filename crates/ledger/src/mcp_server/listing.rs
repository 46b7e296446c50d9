//! The tools that an MCP server lists.

use super::{WHAT, get_on, locked};
use crate::{
    Error, Ledger, McpListingRecord, Result,
    guard::{require, require_revision},
};
use domain::{
    Scope,
    mcp::{Listing, OfferedTool},
    role::Permission,
};

/// Returns the tools that an MCP server listed last.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such server.
pub async fn listing(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<McpListingRecord> {
    require(scope, Permission::ManageTools)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let server = get_on(conn, tenant_id, &slug).await?;
        let found = store::mcp_server::listing(conn, tenant_id, server.id).await?;
        found.ok_or(Error::NotFound(WHAT))
    });
    read.await
}

/// Stores the tools that an MCP server listed now, and compares them with those that it listed before. `is_cut` says
/// that it was not asked for all. `revision` is that of the definition by which it was reached.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such server; [`Error::StaleRevision`] if it was changed meanwhile.
pub async fn record_listing(
    ledger: &Ledger,
    scope: &Scope,
    (slug, revision): (&str, u64),
    offered: Vec<OfferedTool>,
    is_cut: bool,
) -> Result<McpListingRecord> {
    require(scope, Permission::ManageTools)?;
    let (tenant_id, slug, now) = (scope.tenant_id, slug.to_owned(), ledger.now());
    let written = ledger.write(scope.into(), async move |tx| {
        let server = locked(tx, tenant_id, &slug).await?;
        require_revision(revision, server.revision)?;
        let before = store::mcp_server::listing(tx.conn(), tenant_id, server.id).await?;
        let before = before.and_then(|before| before.listing);
        let listing = Listing::of(offered, is_cut, before.as_ref());
        store::mcp_server::set_listing(tx, tenant_id, server.id, &listing, now).await?;
        Ok(McpListingRecord { listing: Some(listing), listed_at: Some(now) })
    });
    written.await
}
