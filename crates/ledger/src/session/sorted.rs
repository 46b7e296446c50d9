//! Lists of sessions in other orders than newest first, and the counts of saved searches.

use super::narrow::{is_search, narrowed};
use crate::{
    Error, Listed, Result,
    cursor::{List, decode_event, encode_event},
    search::LineSearch,
};
use domain::{
    Scope, Timestamp,
    clock::{from_micros, to_micros},
    id::{SessionId, TenantId, UserId},
    limit::{SAVED_SEARCH_COUNT_MAX, SAVED_SEARCH_COUNTS_KEPT_MAX, SAVED_SEARCH_LOOKED_MAX, SESSIONS_LOOKED_MAX},
    session::{Session, Sort},
};
use quick_cache::sync::Cache;
use std::collections::HashMap;
use store::{
    Conn,
    session::{Filter, Place},
};
use uuid::Uuid;

/// A number larger than that of every order in a cursor.
const ORDERS: u64 = 8;

/// Number of an order in a cursor.
const fn number(sort: Sort) -> u64 {
    match sort {
        Sort::Newest => 0,
        Sort::Oldest => 1,
        Sort::Duration => 2,
        Sort::Cost => 3,
        Sort::Activity => 4,
    }
}

/// Where a page of a list begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Start {
    /// The order of the list.
    pub(super) sort: Sort,
    /// Time of the first page (UTC). Sessions that still run count as lasting until then, on all pages.
    as_of: Timestamp,
    /// The last place of the page before; `None` for the first page.
    pub(super) after: Option<Place>,
}

impl Start {
    /// The first page of a list that is read at this time.
    pub(super) const fn of(sort: Sort, now: Timestamp) -> Self {
        Self { sort, as_of: now, after: None }
    }

    /// Reads the cursor of a list in this order.
    ///
    /// # Errors
    /// [`Error::InvalidCursor`] for a cursor of another list or order.
    pub(super) fn read(sort: Sort, cursor: &str) -> Result<Self> {
        let (value, id, rest) = decode_event(List::SortedSessions, cursor)?;
        let as_of = i64::try_from(rest / ORDERS).ok().filter(|_| rest % ORDERS == number(sort));
        let as_of = from_micros(as_of.ok_or(Error::InvalidCursor)?);
        Ok(Self { sort, as_of, after: Some(Place { value, id: SessionId(id) }) })
    }

    /// The cursor of the page after this place. The time of the list and the number of the order share one number.
    fn cursor(self, after: Place) -> String {
        let as_of = u64::try_from(to_micros(self.as_of)).unwrap_or_default();
        encode_event(List::SortedSessions, after.value, after.id.0, as_of * ORDERS + number(self.sort))
    }
}

/// The smallest id after this one.
pub(super) const fn just_after(id: SessionId) -> SessionId {
    SessionId(Uuid::from_u128(id.0.as_u128().saturating_add(1)))
}

/// One page of a list that begins with the oldest session. Its filter begins after the page before.
pub(super) async fn oldest_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    filter: Filter,
    before: Option<SessionId>,
    (start, limit): (Start, u32),
) -> Result<Listed<Session>> {
    let looked = if is_search(&filter) {
        store::session::first_looked(conn, scope.tenant_id, &filter, SESSIONS_LOOKED_MAX).await?
    } else {
        None
    };
    // A filter by a time may end the list earlier. Then no page follows this one.
    let looked = looked.filter(|last| before.is_none_or(|before| last.0 < before.0));
    let before = looked.map(just_after).or(before);
    let page = store::session::list_oldest(conn, scope.tenant_id, &filter, before, limit).await?;
    let last = if page.has_more { page.items.last().map(|session| session.id) } else { looked };
    let next_cursor = last.map(|id| start.cursor(Place { value: 0, id }));
    Ok(Listed { items: page.items, next_cursor })
}

/// One page of a list that is sorted by a value: of the newest [`SESSIONS_LOOKED_MAX`] sessions of the leading filter.
pub(super) async fn sorted_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    filter: Filter,
    before: Option<SessionId>,
    (start, limit): (Start, u32),
) -> Result<Listed<Session>> {
    let tenant_id = scope.tenant_id;
    let first = store::session::last_looked(conn, tenant_id, &filter, before, SESSIONS_LOOKED_MAX).await?;
    let oldest = first.into_iter().chain(filter.oldest).max_by_key(|id| id.0);
    let filter = Filter { oldest, ..filter };
    let order = (start.sort, start.as_of);
    let places = store::session::sorted(conn, tenant_id, &filter, before, order, start.after, limit).await?;
    let ids: Vec<SessionId> = places.items.iter().map(|place| place.id).collect();
    let mut items = store::session::list_by_ids(conn, tenant_id, &ids).await?;
    let rank: HashMap<SessionId, usize> = ids.into_iter().enumerate().map(|(rank, id)| (id, rank)).collect();
    items.sort_by_key(|session| rank.get(&session.id).copied());
    let next_cursor = places.items.last().filter(|_| places.has_more).map(|place| start.cursor(*place));
    Ok(Listed { items, next_cursor })
}

/// How many sessions a saved search selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Number of sessions that were found: at most [`SAVED_SEARCH_COUNT_MAX`].
    pub number: usize,
    /// Whether there can be more: further ones were found, or older sessions were not looked at.
    pub has_more: bool,
}

/// Counts of saved searches, by reader, line and time zone, with the time at which each was made.
pub(crate) type SavedCounts = Cache<(TenantId, UserId, String, String), (Timestamp, Option<Counted>)>;

pub(crate) fn saved_counts() -> SavedCounts {
    Cache::new(SAVED_SEARCH_COUNTS_KEPT_MAX)
}

/// Counts the sessions of a search line without words that the caller can see: of the newest
/// [`SAVED_SEARCH_LOOKED_MAX`] sessions of the leading filter, at most [`SAVED_SEARCH_COUNT_MAX`].
///
/// # Errors
/// [`Error::Invalid`] if the line names a member who does not exist.
pub(crate) async fn count_on(conn: &mut Conn<'_>, scope: &Scope, line: &LineSearch, now: Timestamp) -> Result<Counted> {
    let tenant_id = scope.tenant_id;
    let filter = Filter { private_to: Some(scope.caller.to_string()), ..Filter::default() };
    let (filter, before) = narrowed(filter, None, line.sessions(conn, scope).await?);
    let last = store::session::last_looked(conn, tenant_id, &filter, before, SAVED_SEARCH_LOOKED_MAX).await?;
    let last = last.filter(|last| filter.oldest.is_none_or(|oldest| last.0 > oldest.0));
    let filter = Filter { oldest: last.or(filter.oldest), ..filter };
    let order = (Sort::Activity, now);
    let found = store::session::sorted(conn, tenant_id, &filter, before, order, None, SAVED_SEARCH_COUNT_MAX).await?;
    Ok(Counted { number: found.items.len(), has_more: found.has_more || last.is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_belongs_to_one_order_and_keeps_the_time_of_the_list() {
        let place = Place { value: -1, id: SessionId(Uuid::from_u128(7)) };
        let start = Start::of(Sort::Duration, from_micros(1_795_759_200_123_456));
        let cursor = start.cursor(place);
        assert_eq!(Start::read(Sort::Duration, &cursor).unwrap(), Start { after: Some(place), ..start });
        for sort in Sort::ALL.into_iter().filter(|sort| *sort != Sort::Duration) {
            assert!(matches!(Start::read(sort, &cursor), Err(Error::InvalidCursor)), "{sort}");
        }
        assert!(Start::read(Sort::Duration, "").is_err());
    }
}
