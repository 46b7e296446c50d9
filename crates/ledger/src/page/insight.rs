//! The page /insights: the figures of a window.

use crate::{
    ActionRecord, Ledger, Result,
    action::{self, ListActions},
    guard::require,
    insight::{self, InsightsRecord},
    memory_writer::{StalledRecord, stalled_on},
};
use domain::{Scope, role::Permission};

/// Number of actions whose rows lead to their sessions.
const ACTIONS_MAX: u32 = 1_000;

/// Figures of a window, and the actions that their rows lead to.
#[derive(Debug)]
pub struct Page {
    /// Figures of the window, and whether they are complete.
    pub record: InsightsRecord,
    /// The newest actions of the workspace.
    pub actions: Vec<ActionRecord>,
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
        Ok((newest, action::list_on(conn, &reader, known).await?.items, stalled))
    });
    let (newest, actions, stalled) = read.await?;
    Ok(Page { record: insight::count(ledger, scope, window, newest).await?, actions, stalled })
}
