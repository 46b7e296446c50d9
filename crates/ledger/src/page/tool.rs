//! The pages /tools: the list, and one tool.

use super::names::{People, people_on};
use crate::{
    Error, Ledger, ListPage, Listed, Result, ToolRecord, ToolSecretRecord, ToolVersionRecord,
    guard::require,
    tool::{self, get_on, may_run_on, published_on, versions_on},
};
use domain::{Scope, role::Permission};

/// Number of tools on a page.
const ROWS: u32 = 50;
/// Number of versions on a tool's page.
const VERSIONS: u32 = 20;

/// The page of one tool.
#[derive(Debug)]
pub struct Page {
    /// The tool with its working copy.
    pub tool: ToolRecord,
    /// Its newest versions, newest first.
    pub versions: Vec<ToolVersionRecord>,
    /// Whether it has more versions.
    pub has_more_versions: bool,
    /// The version to compare and the one before it, if there is one.
    pub compared: Option<(ToolVersionRecord, Option<ToolVersionRecord>)>,
    /// Whether it is published, and the reader may run it.
    pub may_run: bool,
    /// Everyone who may have written it.
    pub people: People,
    /// Its secrets without values; `None` for everyone who may not manage them.
    pub secrets: Option<Vec<ToolSecretRecord>>,
}

/// Reads one page of the list.
///
/// # Errors
/// [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, cursor: Option<String>) -> Result<Listed<ToolRecord>> {
    tool::list(ledger, scope, ListPage { limit: ROWS, cursor }).await
}

/// Reads the page of the tool with this slug. `compared` is the version to compare with the one before it. A version
/// that the tool does not have is not compared.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no tool with this slug.
pub async fn read(ledger: &Ledger, scope: &Scope, slug: String, compared: Option<u64>) -> Result<Page> {
    require(scope, Permission::Read)?;
    let (scope, tenant_id, is_admin) = (*scope, scope.tenant_id, scope.may(Permission::Administer));
    let read = ledger.snapshot(&scope, async move |conn| {
        let tool = get_on(conn, tenant_id, &slug).await?;
        let listed = versions_on(conn, tenant_id, tool.id, &ListPage { limit: VERSIONS, cursor: None }).await?;
        let compared = match compared {
            Some(version) => store::tool::version_of(conn, tenant_id, tool.id, version).await?,
            None => None,
        };
        let compared = match compared {
            Some(version) => {
                let number = version.version.saturating_sub(1);
                Some((version, store::tool::version_of(conn, tenant_id, tool.id, number).await?))
            }
            None => None,
        };
        let secrets = if is_admin { Some(store::tool::secrets(conn, tenant_id, tool.id).await?) } else { None };
        let may_run = match published_on(conn, tenant_id, &slug).await {
            Ok((_, version)) => may_run_on(conn, &scope, &version.definition).await?,
            Err(Error::WrongState { .. }) => false,
            Err(error) => return Err(error),
        };
        let people = people_on(conn, tenant_id).await?;
        let has_more_versions = listed.next_cursor.is_some();
        Ok(Page { tool, versions: listed.items, has_more_versions, compared, may_run, people, secrets })
    });
    read.await
}
