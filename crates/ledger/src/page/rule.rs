//! The pages /rules: the list, and one rule.

use super::names::{People, people_on};
use crate::{
    Ledger, ListPage, Listed, Result, RuleUseRecord, RuleVersionRecord,
    guard::require,
    rule::{Rule, Suggestion, decisions_on, get_on, list_on, suggestions_on},
};
use domain::{Scope, Timestamp, id::RuleId, role::Permission};

/// Number of rules or decisions on a page.
const ROWS: u32 = 50;
/// Number of versions on a rule's page.
const VERSIONS: u32 = 20;

/// A page of rules, and what else could have one.
#[derive(Debug)]
pub struct List {
    /// The rules of this page.
    pub rules: Listed<Rule>,
    /// What rules could be made about; empty for everyone but admins.
    pub suggestions: Vec<Suggestion>,
    /// The time of the page.
    pub now: Timestamp,
}

/// The page of one rule.
#[derive(Debug)]
pub struct Page {
    /// The rule with its newest version.
    pub rule: Rule,
    /// Its newest versions, newest first.
    pub versions: Vec<RuleVersionRecord>,
    /// Its decisions, newest first.
    pub decisions: Listed<RuleUseRecord>,
    /// Everyone who may have changed it.
    pub people: People,
    /// The time of the page.
    pub now: Timestamp,
}

/// Reads one page of the list, and suggestions for admins.
///
/// # Errors
/// [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, cursor: Option<String>) -> Result<List> {
    require(scope, Permission::Read)?;
    let (tenant_id, now, is_admin) = (scope.tenant_id, ledger.now(), scope.may(Permission::Administer));
    let read = ledger.snapshot(scope, async move |conn| {
        let rules = list_on(conn, tenant_id, &ListPage { limit: ROWS, cursor }, now).await?;
        let suggestions = if is_admin { suggestions_on(conn, tenant_id, now).await? } else { Vec::new() };
        Ok(List { rules, suggestions, now })
    });
    read.await
}

/// Reads the page of a rule.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such rule; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn read(ledger: &Ledger, scope: &Scope, id: RuleId, cursor: Option<String>) -> Result<Page> {
    require(scope, Permission::Read)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        Ok(Page {
            rule: get_on(conn, tenant_id, id, now).await?,
            versions: store::rule::versions(conn, tenant_id, id, None, VERSIONS).await?.items,
            decisions: decisions_on(conn, tenant_id, id, &ListPage { limit: ROWS, cursor }).await?,
            people: people_on(conn, tenant_id).await?,
            now,
        })
    });
    read.await
}
