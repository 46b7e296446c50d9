//! The causes of a workspace.

use super::span::When;
use crate::{
    Ledger, Listed, Result,
    cursor::{List, decode_at, encode_at, page_size},
    guard::require,
    list_line::{among, contains, list_line, words},
};
use domain::{
    Scope, Timestamp,
    failure::cause::{CauseState, Current, Span, Window, state::current},
    id::CauseId,
    limit::{CAUSE_AGENTS_NAMED, CAUSE_TREND_PARTS},
    role::Permission,
    search::{Condition, Field, Test},
};
use std::collections::BTreeMap;
use store::{
    Conn, Page,
    failure::cause::{CauseQuery, CauseRecord, Part},
    session::{Among, Contains},
};

/// Filter and page of a list of causes.
#[derive(Debug, Clone)]
pub struct ListCauses {
    /// Time range in which failures are counted. Causes without a failure in it are left out.
    pub when: When,
    /// Only causes in this state.
    pub state: Option<CauseState>,
    /// Only causes that have each word in the code, tool, step or message. `error:` is a part of these too; `agent:` is
    /// an agent that has such a failure in the range. See [`Line`](domain::search::Line).
    pub line: Option<String>,
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// A cause, with its failures in a time range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The cause.
    pub record: CauseRecord,
    /// Its state now.
    pub current: Current,
    /// The agents with the most failures in the range and how many each has, at most three. `None` is work that names
    /// no agent.
    pub agents: Vec<(Option<String>, u64)>,
    /// Number of further agents.
    pub more_agents: u64,
    /// Failures in each of the eight equal parts of the range.
    pub trend: [u64; CAUSE_TREND_PARTS],
}

/// A page of causes.
#[derive(Debug, Clone)]
pub struct CauseList {
    /// Time range in which failures are counted.
    pub span: Span,
    /// Its name, if it has one.
    pub window: Option<Window>,
    /// The causes, those with the newest failure first.
    pub causes: Listed<Cause>,
}

/// A checked [`ListCauses`].
pub(crate) struct CausesQuery {
    when: When,
    state: Option<CauseState>,
    texts: Contains,
    agents: Among,
    limit: u32,
    after: Option<(i64, CauseId)>,
}

impl CausesQuery {
    /// Checks the filter and the page.
    pub(crate) fn of(scope: &Scope, query: ListCauses) -> Result<Self> {
        require(scope, Permission::Read)?;
        query.when.check()?;
        let limit = page_size(query.limit)?;
        let after = query.cursor.as_deref().map(|cursor| decode_at(List::FailureCauses, cursor)).transpose()?;
        let after = after.map(|(at, id)| (at, CauseId(id)));
        let (texts, agents) = matching(query.line.as_deref())?;
        Ok(Self { when: query.when, state: query.state, texts, agents, limit, after })
    }
}

/// What a search line asks for of causes.
fn matching(line: Option<&str>) -> Result<(Contains, Among)> {
    let line = list_line(line, &Field::OF_CAUSES)?;
    let (mut texts, mut agents) = (words(&line), Among::default());
    for Condition { is_excluded, test } in line.conditions {
        match test {
            Test::Agent(slugs) => among(&mut agents, is_excluded, slugs),
            Test::Error(parts) => contains(&mut texts, is_excluded, &parts),
            // The line has no other fields.
            _ => {}
        }
    }
    Ok((texts, agents))
}

/// Returns one page of the causes that have failures in a time range.
///
/// # Errors
/// [`crate::Error::Invalid`] for a wrong range, an unknown time zone, a bad line or a limit above 1,000;
/// [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListCauses) -> Result<CauseList> {
    let (reader, now, query) = (*scope, ledger.now(), CausesQuery::of(scope, query)?);
    ledger.snapshot(scope, async move |conn| list_on(conn, &reader, query, now).await).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    query: CausesQuery,
    now: Timestamp,
) -> Result<CauseList> {
    let CausesQuery { when, state, texts, agents, limit, after } = query;
    let span = when.span(conn, scope, now).await?;
    let Page { items, has_more } = store::failure::cause::list(
        conn,
        scope.tenant_id,
        CauseQuery { span, state, texts, agents, now, after, limit },
    )
    .await?;
    let next = match items.last().filter(|_| has_more) {
        Some(last) => {
            store::failure::cause::newest_in(conn, scope.tenant_id, last.id, span).await?.map(|at| (at, last.id))
        }
        None => None,
    };
    let next_cursor = next.map(|(at, id)| encode_at(List::FailureCauses, at, id.0));
    let causes = Listed { items: with_parts(conn, scope, items, span, now).await?, next_cursor };
    Ok(CauseList { span, window: when.named(), causes })
}

/// Adds agents and trends.
pub(super) async fn with_parts(
    conn: &mut Conn<'_>,
    scope: &Scope,
    records: Vec<CauseRecord>,
    span: Span,
    now: Timestamp,
) -> Result<Vec<Cause>> {
    let ids: Vec<CauseId> = records.iter().map(|record| record.id).collect();
    let parts = store::failure::cause::parts(conn, scope.tenant_id, &ids, span).await?;
    let mut of: BTreeMap<CauseId, Vec<Part>> = BTreeMap::new();
    for part in parts {
        of.entry(part.cause_id).or_default().push(part);
    }
    let cause = |record: CauseRecord| {
        let parts = of.remove(&record.id).unwrap_or_default();
        cause_of(record, parts, now)
    };
    Ok(records.into_iter().map(cause).collect())
}

fn cause_of(record: CauseRecord, parts: Vec<Part>, now: Timestamp) -> Cause {
    let mut by_agent: BTreeMap<Option<String>, u64> = BTreeMap::new();
    let mut trend = [0; CAUSE_TREND_PARTS];
    for part in parts {
        if let Some(count) = trend.get_mut(part.part) {
            *count += part.failures;
        }
        *by_agent.entry(part.agent_slug).or_default() += part.failures;
    }
    let mut agents: Vec<_> = by_agent.into_iter().collect();
    agents.sort_by_key(|(_, failures)| std::cmp::Reverse(*failures));
    let more_agents = agents.len().saturating_sub(CAUSE_AGENTS_NAMED) as u64;
    agents.truncate(CAUSE_AGENTS_NAMED);
    let current = current(record.state, record.snoozed_until, record.back_at, now);
    Cause { record, current, agents, more_agents, trend }
}
