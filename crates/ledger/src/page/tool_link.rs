//! The page with the links to a tool.

use super::names::{People, people_on};
use crate::{
    Error, Ledger, Result, ToolLinkRecord, ToolRecord,
    guard::require,
    tool::{get_on, published_on},
    tool_link::newest_on,
};
use domain::{Scope, Timestamp, role::Permission};

/// A tool and the links to it.
#[derive(Debug)]
pub struct Page {
    /// The tool with its working copy.
    pub tool: ToolRecord,
    /// Whether it is published, and the published version allows links.
    pub is_allowed: bool,
    /// The newest links to it, newest first.
    pub links: Vec<ToolLinkRecord>,
    /// Everyone who may have made them.
    pub people: People,
    /// Time at which the links were read (UTC).
    pub now: Timestamp,
}

/// Reads the page of the tool with this slug.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::Forbidden`] for everyone who may not change tools.
pub async fn read(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<Page> {
    require(scope, Permission::ManageTools)?;
    let (tenant_id, now, slug) = (scope.tenant_id, ledger.now(), slug.to_owned());
    let read = ledger.snapshot(scope, async move |conn| {
        let tool = get_on(conn, tenant_id, &slug).await?;
        let is_allowed = match published_on(conn, tenant_id, &slug).await {
            Ok((_, version)) => version.definition.audience.link,
            Err(Error::WrongState { .. }) => false,
            Err(error) => return Err(error),
        };
        let links = newest_on(conn, tenant_id, tool.id, now).await?;
        Ok(Page { tool, is_allowed, links, people: people_on(conn, tenant_id).await?, now })
    });
    read.await
}
