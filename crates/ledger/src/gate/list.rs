//! Lists of gates that wait for a decision, how many these are, and lists of decided gates.

use super::{
    by_role,
    item::{GateItem, load},
    line::GateLine,
    person,
    visibility::visible,
};
use crate::{
    Ledger, Listed, RequestRecord, Result,
    cursor::{List, decode_at, encode_at, page_size},
    guard::require,
};
use domain::{
    Scope, Timestamp,
    clock::to_micros,
    gate::{Gate, GateKind, GateState},
    id::{GateId, SessionId},
    limit::APPROVALS_LOOKED_MAX,
    role::Permission,
};
use std::collections::HashMap;
use store::{
    Conn,
    gate::{ClosedFilter, Inbox, InboxScope},
};

/// Gates that a search reads at once.
const COMPARED_AT_ONCE: u32 = 200;

/// Filter by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateFilter {
    /// Gates in this state. In the caller's own list, snoozed gates are left out of the open ones.
    In(GateState),
    /// Gates that are settled, expired or withdrawn.
    Closed,
    /// Open gates that the caller has snoozed.
    Snoozed,
}

/// Filter and page of a list of gates.
#[derive(Debug, Clone)]
pub struct ListGates {
    /// Only gates in this state, only closed gates, or only gates that the caller has snoozed.
    pub filter: GateFilter,
    /// Only gates of this kind.
    pub kind: Option<GateKind>,
    /// Whether to list gates of all reviewers. If false, only gates that the caller may decide.
    pub all: bool,
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// A checked [`ListGates`] with a decoded cursor and a search line, for one caller.
pub(crate) struct ListQuery {
    inbox: Inbox,
    line: GateLine,
}

impl ListQuery {
    /// Checks the query and decodes its cursor.
    ///
    /// # Errors
    /// [`crate::Error::InvalidCursor`] or [`crate::Error::Invalid`] for a wrong cursor or limit.
    /// [`crate::Error::Forbidden`] if a token asks for snoozed gates.
    pub(crate) fn of(scope: &Scope, wanted: &ListGates, now: Timestamp) -> Result<Self> {
        let snoozed = wanted.filter == GateFilter::Snoozed;
        let whose = match scope.user_id() {
            // A token cannot decide any gate, so it gets the list of all gates.
            _ if wanted.all && !snoozed => InboxScope::All,
            None if !snoozed => InboxScope::All,
            _ => InboxScope::Mine { user_id: person(scope)?, by_role: by_role(scope), snoozed },
        };
        let state = match wanted.filter {
            GateFilter::In(state) => Some(state),
            GateFilter::Closed => None,
            GateFilter::Snoozed => Some(GateState::Open),
        };
        let (kind, limit) = (wanted.kind, page_size(wanted.limit)?);
        let inbox = Inbox { whose, state, kind, closed: ClosedFilter::default(), after: None, limit, now };
        let list = if inbox.is_closed() { List::ClosedGates } else { List::Gates };
        let after = wanted.cursor.as_deref().map(|cursor| after(list, cursor)).transpose()?;
        Ok(Self { inbox: Inbox { after, ..inbox }, line: GateLine::default() })
    }

    /// The same list of closed gates, narrowed to those that a filter names.
    pub(crate) fn narrowed(self, closed: ClosedFilter) -> Self {
        let Self { inbox, line } = self;
        Self { inbox: Inbox { state: closed.state().or(inbox.state), closed, ..inbox }, line }
    }

    /// The same list, narrowed to the gates that a search line finds.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for a bad line.
    pub(crate) fn matching(self, line: Option<&str>) -> Result<Self> {
        Ok(Self { line: GateLine::of(line)?, ..self })
    }

    /// Whether the list is narrowed by a search line.
    pub(crate) fn is_searched(&self) -> bool {
        !self.line.is_empty()
    }

    /// Whether the search line finds a question for which no session waits. No line finds all.
    pub(crate) fn finds_question(&self, asked: &RequestRecord) -> bool {
        self.line.finds_question(asked)
    }
}

/// Returns one page of gates: closest deadline first, then oldest first. Gates that are settled, expired or withdrawn
/// are listed closed last first.
///
/// # Errors
/// [`crate::Error::Invalid`] for a limit above 1,000; [`crate::Error::InvalidCursor`] for a cursor of another list;
/// [`crate::Error::Forbidden`] if a token asks for snoozed gates.
pub async fn list(ledger: &Ledger, scope: &Scope, wanted: ListGates) -> Result<Listed<GateItem>> {
    list_matching(ledger, scope, wanted, None).await
}

/// Returns one page of the gates of a list that have each word of a search line in the title or in the values to decide
/// on, with `agent:`, `kind:`, `tool:` and `title:`. See [`Line`](domain::search::Line). A page compares at most
/// [`APPROVALS_LOOKED_MAX`] gates, so it can have few or none and still have a next page.
///
/// # Errors
/// Those of [`list`], and [`crate::Error::Invalid`] for a bad line.
pub async fn list_matching(
    ledger: &Ledger,
    scope: &Scope,
    wanted: ListGates,
    line: Option<&str>,
) -> Result<Listed<GateItem>> {
    require(scope, Permission::Read)?;
    let (reader, asked) = (*scope, ListQuery::of(scope, &wanted, ledger.now())?.matching(line)?);
    ledger.snapshot(scope, async move |conn| list_on(conn, &reader, &asked).await).await
}

/// Compares the gates of a list with a line, until its page is full or enough were compared. Returns those that were
/// found, and the place after which the list goes on.
async fn compare(
    conn: &mut Conn<'_>,
    scope: &Scope,
    mut inbox: Inbox,
    line: &GateLine,
) -> Result<(Vec<Gate>, Option<(i64, GateId)>)> {
    let (limit, mut found, mut looked) = (inbox.limit as usize, Vec::new(), 0);
    inbox.limit = COMPARED_AT_ONCE;
    let goes_on = 'pages: loop {
        let page = store::gate::list(conn, scope.tenant_id, &inbox).await?;
        let last = page.items.len().saturating_sub(1);
        for (at, gate) in page.items.into_iter().enumerate() {
            looked += 1;
            inbox.after = Some(place(&gate));
            if line.finds(&gate) {
                found.push(gate);
            }
            if found.len() == limit || looked == APPROVALS_LOOKED_MAX {
                break 'pages page.has_more || at < last;
            }
        }
        if !page.has_more {
            break false;
        }
    };
    Ok((found, inbox.after.filter(|_| goes_on)))
}

/// Place of a gate in the order of its list.
fn place(gate: &Gate) -> (i64, GateId) {
    (gate.state.settled_at().map_or(gate.order_at, to_micros), gate.id)
}

/// [`list_matching`] on an open connection.
pub(crate) async fn list_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    ListQuery { inbox, line }: &ListQuery,
) -> Result<Listed<GateItem>> {
    let (gates, after) = if line.is_empty() {
        let page = store::gate::list(conn, scope.tenant_id, inbox).await?;
        let after = page.items.last().filter(|_| page.has_more).map(place);
        (page.items, after)
    } else {
        compare(conn, scope, inbox.clone(), line).await?
    };
    let list = if inbox.is_closed() { List::ClosedGates } else { List::Gates };
    let next_cursor = after.map(|(at, id)| encode_at(list, at, id.0));
    Ok(Listed { items: load(conn, scope, gates, inbox.now).await?.items(scope)?, next_cursor })
}

/// Returns how many open gates of all pages of a list have each key of alike ones. Counting ends at `at_most` gates, or
/// after a search has compared [`APPROVALS_LOOKED_MAX`].
pub(crate) async fn count_alike_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    ListQuery { inbox, line }: &ListQuery,
    at_most: u32,
) -> Result<HashMap<String, u64>> {
    if line.is_empty() {
        return Ok(store::gate::count_alike(conn, scope.tenant_id, inbox, at_most).await?);
    }
    let whole = Inbox { after: None, limit: at_most, ..inbox.clone() };
    let mut counts = HashMap::new();
    for gate in compare(conn, scope, whole, line).await?.0 {
        *counts.entry(gate.similar_key).or_default() += 1;
    }
    Ok(counts)
}

/// Returns the open gates of a list that have this key of alike ones, in its order, and whether there are more of them
/// than a page has.
pub(crate) async fn list_alike_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    ListQuery { inbox, .. }: &ListQuery,
    key: &str,
) -> Result<(Vec<GateItem>, bool)> {
    let page = store::gate::list_alike(conn, scope.tenant_id, inbox, key).await?;
    Ok((load(conn, scope, page.items, inbox.now).await?.items(scope)?, page.has_more))
}

/// Returns the gates with these ids, in no particular order. Ids of gates that the caller may not see are left out.
pub(crate) async fn of_ids_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    ids: &[GateId],
    now: Timestamp,
) -> Result<Vec<GateItem>> {
    let gates = store::gate::list_by_ids(conn, scope.tenant_id, ids).await?;
    let gates = visible(conn, scope, gates).await?;
    load(conn, scope, gates, now).await?.items(scope)
}

/// Returns the gates at which these sessions wait, in no particular order. Sessions that wait at no gate are
/// left out, and so are questions in incognito conversations of others.
pub async fn of_sessions(ledger: &Ledger, scope: &Scope, ids: Vec<SessionId>) -> Result<Vec<GateItem>> {
    require(scope, Permission::Read)?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (reader, now) = (*scope, ledger.now());
    ledger.snapshot(scope, async move |conn| of_sessions_on(conn, &reader, &ids, now).await).await
}

/// [`of_sessions`] on an open connection.
pub(crate) async fn of_sessions_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    ids: &[SessionId],
    now: Timestamp,
) -> Result<Vec<GateItem>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let gates = store::gate::waiting_of_sessions(conn, scope.tenant_id, ids).await?;
    let gates = visible(conn, scope, gates).await?;
    load(conn, scope, gates, now).await?.items(scope)
}

/// Returns decisions of the caller that can still be undone, newest first, at most `limit`. Empty for a token.
///
/// # Errors
/// [`crate::Error::Invalid`] for a `limit` above 1,000.
pub async fn held(ledger: &Ledger, scope: &Scope, limit: u32) -> Result<Vec<GateItem>> {
    require(scope, Permission::Read)?;
    let (reader, limit, now) = (*scope, page_size(limit)?, ledger.now());
    ledger.snapshot(scope, async move |conn| held_on(conn, &reader, now, limit).await).await
}

/// [`held`] on an open connection.
pub(crate) async fn held_on(conn: &mut Conn<'_>, scope: &Scope, now: Timestamp, limit: u32) -> Result<Vec<GateItem>> {
    let Some(user_id) = scope.user_id() else { return Ok(Vec::new()) };
    let gates = store::gate::held_by(conn, scope.tenant_id, user_id, now, limit).await?;
    load(conn, scope, gates, now).await?.items(scope)
}

fn after(list: List, cursor: &str) -> Result<(i64, GateId)> {
    decode_at(list, cursor).map(|(at, id)| (at, GateId(id)))
}

/// Returns the number of open gates that the caller may decide and has not snoozed; 0 for a token. Counting
/// stops at `at_most`.
pub async fn count(ledger: &Ledger, scope: &Scope, at_most: u32) -> Result<u64> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    ledger.snapshot(scope, async move |conn| count_on(conn, &reader, now, at_most).await).await
}

/// [`count`] on an open connection.
pub(crate) async fn count_on(conn: &mut Conn<'_>, scope: &Scope, now: Timestamp, at_most: u32) -> Result<u64> {
    let Some(user_id) = scope.user_id() else { return Ok(0) };
    Ok(store::gate::count(conn, scope.tenant_id, user_id, by_role(scope), now, at_most).await?)
}
