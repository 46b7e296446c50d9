//! Reading rules, their versions and their decisions.

use super::not_found;
use crate::{
    Ledger, ListPage, Listed, Result, RuleRecord, RuleUseRecord,
    cursor::{List, decode_at, encode, encode_at, page_size},
    guard::require,
};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    clock::to_micros,
    id::{GateId, RuleId, TenantId},
    limit::BACK_TEST_DAYS,
    role::Permission,
};
use store::{Conn, Page};

/// Days of the shorter count of decisions.
const WEEK_DAYS: i64 = 7;

/// A rule with the number of its decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The rule with its newest version.
    pub record: RuleRecord,
    /// Gates that it decided in the last 7 days.
    pub decided_7d: u64,
    /// Gates that it decided in the last 90 days.
    pub decided_90d: u64,
}

/// Returns one page of the rules that are not deleted, newest first.
///
/// # Errors
/// [`crate::Error::Invalid`] for a limit above 1,000; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<Rule>> {
    require(scope, Permission::Read)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    ledger.snapshot(scope, async move |conn| list_on(conn, tenant_id, &page, now).await).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    page: &ListPage,
    now: Timestamp,
) -> Result<Listed<Rule>> {
    let (before, limit) = page.before_id(List::Rules)?;
    let Page { items, has_more } = store::rule::list(conn, tenant_id, before.map(RuleId), limit).await?;
    let items = counted(conn, tenant_id, items, now).await?;
    Ok(Listed::of(Page { items, has_more }, |last| encode(List::Rules, last.record.id.0)))
}

/// Adds the numbers of decisions.
async fn counted(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    records: Vec<RuleRecord>,
    now: Timestamp,
) -> Result<Vec<Rule>> {
    let ids: Vec<RuleId> = records.iter().map(|record| record.id).collect();
    let since = (now - TimeDelta::days(BACK_TEST_DAYS), now - TimeDelta::days(WEEK_DAYS));
    let counts = store::rule::counts(conn, tenant_id, &ids, since).await?;
    let rule = |record: RuleRecord| {
        let (decided_7d, decided_90d) = counts.get(&record.id).copied().unwrap_or_default();
        Rule { record, decided_7d, decided_90d }
    };
    Ok(records.into_iter().map(rule).collect())
}

/// Returns a rule, deleted ones included.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such rule.
pub async fn get(ledger: &Ledger, scope: &Scope, id: RuleId) -> Result<Rule> {
    require(scope, Permission::Read)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    ledger.snapshot(scope, async move |conn| get_on(conn, tenant_id, id, now).await).await
}

/// [`get`] on an open connection.
pub(crate) async fn get_on(conn: &mut Conn<'_>, tenant_id: TenantId, id: RuleId, now: Timestamp) -> Result<Rule> {
    let record = store::rule::find(conn, tenant_id, id).await?.ok_or_else(not_found)?;
    counted(conn, tenant_id, vec![record], now).await?.pop().ok_or_else(not_found)
}

/// Returns one page of a rule's decisions, newest first.
///
/// # Errors
/// Those of [`list`], and [`crate::Error::NotFound`] if there is no such rule.
pub async fn decisions(ledger: &Ledger, scope: &Scope, id: RuleId, page: ListPage) -> Result<Listed<RuleUseRecord>> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| decisions_on(conn, tenant_id, id, &page).await).await
}

/// [`decisions`] on an open connection.
pub(crate) async fn decisions_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: RuleId,
    page: &ListPage,
) -> Result<Listed<RuleUseRecord>> {
    let before = page.cursor.as_deref().map(|cursor| decode_at(List::RuleDecisions, cursor)).transpose()?;
    let limit = page_size(page.limit)?;
    store::rule::find(conn, tenant_id, id).await?.ok_or_else(not_found)?;
    let before = before.map(|(at, id)| (at, GateId(id)));
    let page = store::rule::uses(conn, tenant_id, id, before, limit).await?;
    Ok(Listed::of(page, |last| encode_at(List::RuleDecisions, to_micros(last.at), last.gate_id.0)))
}
