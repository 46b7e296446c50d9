//! The page /insights: the figures of a window.

use crate::{
    ActionRecord, Ledger, Result,
    action::{self, ListActions},
    guard::require,
    insight::{self, InsightsRecord},
    memory_writer::{StalledRecord, stalled_on},
};
use domain::{Scope, role::Permission};
use std::collections::BTreeMap;

/// Number of actions whose rows lead to their sessions.
const ACTIONS_MAX: u32 = 1_000;
/// Number of tools that have their names in the figures.
const TOOLS_MAX: u32 = 1_000;

/// Figures of a window, and the actions and tools that their rows lead to.
#[derive(Debug)]
pub struct Page {
    /// Figures of the window, and whether they are complete.
    pub record: InsightsRecord,
    /// The newest actions of the workspace.
    pub actions: Vec<ActionRecord>,
    /// The names of the newest tools of the workspace, by slug.
    pub tool_names: BTreeMap<String, String>,
    /// Memory writers that wait after failures.
    pub stalled: Vec<StalledRecord>,
}

/// Reads the figures of the last `days` days. A window with more rows than one read returns is read on after the
/// snapshot, in short transactions.
///
/// # Errors
/// [`crate::Error::Invalid`] if `days` is out of range.
pub async fn read(ledger: &Ledger, scope: &Scope, days: u32) -> Result<Page> {
    require(scope, Permission::Read)?;
    let (reader, window, now) = (*scope, insight::window(ledger, days)?, ledger.now());
    let known = action::ListQuery::of(scope, ListActions { limit: ACTIONS_MAX, ..ListActions::default() })?;
    let read = ledger.snapshot(scope, async move |conn| {
        let newest = insight::newest_on(conn, reader.tenant_id, window).await?;
        let stalled = stalled_on(conn, reader.tenant_id, now).await?;
        let tools = store::tool::names(conn, reader.tenant_id, TOOLS_MAX).await?;
        Ok((newest, action::list_on(conn, &reader, known).await?.items, tools, stalled))
    });
    let (newest, actions, tools, stalled) = read.await?;
    let record = insight::count(ledger, scope, window, newest).await?;
    Ok(Page { record, actions, tool_names: tools.into_iter().collect(), stalled })
}
