//! The pages /criteria-sets: a list of sets, and one set.

use super::names::{People, people_on};
use crate::{CriteriaSetRecord, Ledger, ListPage, Listed, Result, criteria_set, guard::require};
use domain::{Scope, id::CriteriaSetId, role::Permission};

/// Number of sets on a page.
const ROWS: u32 = 50;
/// Number of versions on a set's page.
const VERSIONS: u32 = 20;

/// The page of one set.
#[derive(Debug)]
pub struct Page {
    /// The set at the requested version.
    pub set: CriteriaSetRecord,
    /// Its newest versions, newest first.
    pub versions: Vec<CriteriaSetRecord>,
    /// Whether it has more versions.
    pub has_more_versions: bool,
    /// Everyone who may have written a version.
    pub people: People,
}

/// Reads one page of the list.
///
/// # Errors
/// [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, cursor: Option<String>) -> Result<Listed<CriteriaSetRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, page) = (scope.tenant_id, ListPage { limit: ROWS, cursor });
    ledger.snapshot(scope, async move |conn| criteria_set::list_on(conn, tenant_id, page).await).await
}

/// Reads the page of one set at a version, or at its newest version.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such set, or the set has no such version.
pub async fn read(ledger: &Ledger, scope: &Scope, id: CriteriaSetId, version: Option<u64>) -> Result<Page> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| {
        let set = criteria_set::get_on(conn, tenant_id, id, version).await?;
        let listed = criteria_set::versions_on(conn, tenant_id, id, None, VERSIONS).await?;
        let people = people_on(conn, tenant_id).await?;
        Ok(Page { set, has_more_versions: listed.next_cursor.is_some(), versions: listed.items, people })
    });
    read.await
}
