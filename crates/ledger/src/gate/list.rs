//! Lists of gates that wait for a decision, and of decided gates.

use super::{
    by_role,
    item::{GateItem, load},
    person,
    visibility::visible,
};
use crate::{
    Ledger, Listed, Result,
    cursor::{List, decode_at, encode_at, page_size},
    guard::require,
};
use domain::{
    Scope, Timestamp,
    clock::to_micros,
    gate::{GateKind, GateState},
    id::{GateId, SessionId},
    role::Permission,
};
use std::collections::HashMap;
use store::{
    Conn,
    gate::{ClosedFilter, Inbox, InboxScope},
};

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

/// A checked [`ListGates`] with a decoded cursor, for one caller.
pub(crate) struct ListQuery(Inbox);

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
        Ok(Self(Inbox { after, ..inbox }))
    }

    /// The same list of closed gates, narrowed to those that a filter names.
    pub(crate) fn narrowed(self, closed: ClosedFilter) -> Self {
        let Self(inbox) = self;
        Self(Inbox { state: closed.state().or(inbox.state), closed, ..inbox })
    }
}

/// Returns one page of gates: closest deadline first, then oldest first. Gates that are settled, expired or withdrawn
/// are listed closed last first.
///
/// # Errors
/// [`crate::Error::Invalid`] for a limit above 1,000; [`crate::Error::InvalidCursor`] for a cursor of another list;
/// [`crate::Error::Forbidden`] if a token asks for snoozed gates.
pub async fn list(ledger: &Ledger, scope: &Scope, wanted: ListGates) -> Result<Listed<GateItem>> {
    require(scope, Permission::Read)?;
    let (reader, asked) = (*scope, ListQuery::of(scope, &wanted, ledger.now())?);
    ledger.snapshot(scope, async move |conn| list_on(conn, &reader, &asked).await).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    ListQuery(inbox): &ListQuery,
) -> Result<Listed<GateItem>> {
    let page = store::gate::list(conn, scope.tenant_id, inbox).await?;
    let items = load(conn, scope, page.items, inbox.now).await?.items(scope)?;
    let last = items.last().filter(|_| page.has_more);
    let next_cursor = last.map(|last| match last.gate.state.settled_at() {
        Some(at) => encode_at(List::ClosedGates, to_micros(at), last.gate.id.0),
        None => encode_at(List::Gates, last.gate.order_at, last.gate.id.0),
    });
    Ok(Listed { items, next_cursor })
}

/// Returns how many open gates of all pages of a list have each key of alike ones. Counting ends at `at_most` gates.
pub(crate) async fn count_alike_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    ListQuery(inbox): &ListQuery,
    at_most: u32,
) -> Result<HashMap<String, u64>> {
    Ok(store::gate::count_alike(conn, scope.tenant_id, inbox, at_most).await?)
}

/// Returns the open gates of a list that have this key of alike ones, in its order, and whether there are more of them
/// than a page has.
pub(crate) async fn list_alike_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    ListQuery(inbox): &ListQuery,
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
