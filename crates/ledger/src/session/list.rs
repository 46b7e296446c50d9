//! The sessions of a workspace.

use super::{
    get::get_on,
    narrow::{is_search, narrowed},
    sorted::{Start, just_after, oldest_on, sorted_on},
};
use crate::{
    Ledger, Listed, Result,
    cursor::{List, decode, page_size},
    guard::{Fields, require},
    search::{LineSearch, SearchLine},
    visibility::can_see,
    work_queue::{day_begins, zone_of},
};
use chrono::{NaiveDate, TimeDelta};
use chrono_tz::Tz;
use domain::{
    Scope, Timestamp,
    id::{ActionId, SessionId, least_v7},
    limit::{SESSIONS_LOOKED_MAX, TITLE_CHARS_MAX},
    role::Permission,
    session::{Session, Sort, Status, Type},
};
use std::ops::Range;
use store::{
    Conn,
    session::{Filter, Matching},
};

/// Filter and page of a list of sessions.
#[derive(Debug, Clone, Default)]
pub struct ListSessions {
    /// Only sessions of this type.
    pub session_type: Option<Type>,
    /// Only sessions of this status.
    pub status: Option<Status>,
    /// Only sessions of this action.
    pub action_id: Option<ActionId>,
    /// Only sessions of this agent.
    pub agent_slug: Option<String>,
    /// Only children of this session.
    pub parent_id: Option<SessionId>,
    /// Only sessions whose title contains this text. Case is ignored. A page compares the titles of at most
    /// [`SESSIONS_LOOKED_MAX`] sessions. Therefore it can hold few sessions or none and still have a next page.
    pub title_contains: Option<String>,
    /// Only sessions that ended on this day, and began at most 31 days before it.
    pub ended_on: Option<NaiveDate>,
    /// Only sessions that ended on this day or later, and began at most 31 days before it.
    pub ended_since: Option<NaiveDate>,
    /// Only sessions with an item that was decided or expired on this day, and that began at most 31 days before it.
    /// The day is that on which the decision took effect. Sessions of proposals of a memory writer are left out.
    pub decided_on: Option<NaiveDate>,
    /// Only sessions with a captured answer that was complete on this day, and that began at most 31 days before it.
    /// Sessions of proposals of a memory writer are left out.
    pub answered_on: Option<NaiveDate>,
    /// IANA name of the time zone whose days these are. `None` for UTC.
    pub timezone: Option<String>,
    /// Only sessions that this search line finds. Words are looked for in titles, and in the newest
    /// [`SEARCH_LOOKED_MAX`](domain::limit::SEARCH_LOOKED_MAX) events that have them. Like a part of the title, a
    /// line is compared with at most [`SESSIONS_LOOKED_MAX`] sessions a page.
    pub query: Option<SearchLine>,
    /// The order. A list by duration, cost or last activity has the newest [`SESSIONS_LOOKED_MAX`] sessions at most: of
    /// the task, of the agent or of the one status that the filter names, otherwise of the workspace.
    pub sort: Sort,
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// Adjusts the filter for children of a private session. They are private to the same person, so everyone who
/// can see the parent can see them.
async fn of_parent(conn: &mut Conn<'_>, scope: &Scope, filter: Filter) -> store::Result<Filter> {
    let Some(id) = filter.parent_id else { return Ok(filter) };
    match store::session::find(conn, scope.tenant_id, id).await? {
        Some(parent) if parent.private_to.is_some() && can_see(conn, scope, &parent).await? => {
            Ok(Filter { private_to: parent.private_to, ..filter })
        }
        _ => Ok(filter),
    }
}

/// Longest time from the beginning of a session to its end, a decision or an answer that the filters by day find.
const AFTER_BEGINNING_MAX: TimeDelta = TimeDelta::days(31);

/// The time from the beginning of a day to the beginning of the next one, in a time zone.
fn time_of(day: NaiveDate, zone: Tz) -> Range<Timestamp> {
    let begins = |day: NaiveDate| day_begins(day, zone).unwrap_or(Timestamp::MAX_UTC);
    begins(day)..day.succ_opt().map_or(Timestamp::MAX_UTC, begins)
}

/// The time in which sessions ended that the filters by the end select; `None` without such a filter.
fn ended_in(on: Option<NaiveDate>, since: Option<NaiveDate>, zone: Tz) -> Option<Range<Timestamp>> {
    let since = since.map(|day| time_of(day, zone).start);
    match (on.map(|day| time_of(day, zone)), since) {
        (Some(day), Some(since)) => Some(day.start.max(since)..day.end),
        (Some(day), None) => Some(day),
        (None, Some(since)) => Some(since..Timestamp::MAX_UTC),
        (None, None) => None,
    }
}

/// A checked [`ListSessions`] with a decoded cursor, for one caller.
pub(crate) struct ListQuery {
    filter: Filter,
    before: Option<SessionId>,
    limit: u32,
    asked: Option<LineSearch>,
    start: Start,
}

impl ListQuery {
    /// Checks the query and decodes its cursor. `now` is the time of the search line.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for a wrong filter, search line, time zone or limit, [`crate::Error::InvalidCursor`]
    /// for a cursor of another list or order.
    pub(crate) fn of(scope: &Scope, query: ListSessions, now: Timestamp) -> Result<Self> {
        let asked = query.query.as_ref().map(|line| LineSearch::of(line, now)).transpose()?;
        let mut fields = Fields::default();
        fields.text("title", query.title_contains.as_deref(), TITLE_CHARS_MAX);
        fields.agent("agentSlug", query.agent_slug.as_deref());
        fields.check()?;
        let zone = query.timezone.as_deref().map_or(Ok(Tz::UTC), zone_of)?;
        let time_of = |day| time_of(day, zone);
        let ended = ended_in(query.ended_on, query.ended_since, zone);
        let (decided, answered) = (query.decided_on.map(time_of), query.answered_on.map(time_of));
        let first = Start::of(query.sort, now);
        let (before, start) = match query.cursor.as_deref() {
            None => (None, first),
            Some(cursor) if query.sort == Sort::Newest => (Some(SessionId(decode(List::Sessions, cursor)?)), first),
            Some(cursor) => (None, Start::read(query.sort, cursor)?),
        };
        // What happened by then is of sessions with an id from before, so newer ones need not be read. A day with few
        // sessions would read the whole history, so sessions that began much earlier are not looked for.
        let begins = [&ended, &decided, &answered].into_iter().flatten().map(|time| time.start).max();
        let oldest = begins.and_then(|at| at.checked_sub_signed(AFTER_BEGINNING_MAX));
        let oldest = oldest.map(|at| SessionId(least_v7(at)));
        let follows = start.after.filter(|_| query.sort == Sort::Oldest).map(|place| just_after(place.id));
        let days = [query.ended_on, query.decided_on, query.answered_on].into_iter().flatten();
        let newest = days.map(|day| SessionId(least_v7(time_of(day).end)));
        let before = before.into_iter().chain(newest).min_by_key(|id| id.0);
        let filter = Filter {
            session_type: query.session_type,
            status: query.status,
            action_id: query.action_id,
            agent_slug: query.agent_slug,
            parent_id: query.parent_id,
            retry_of: None,
            title_contains: query.title_contains.filter(|text| !text.is_empty()),
            ended,
            decided,
            answered,
            oldest: oldest.into_iter().chain(follows).max_by_key(|id| id.0),
            private_to: Some(scope.caller.to_string()),
            matching: Matching::default(),
        };
        Ok(Self { filter, before, limit: page_size(query.limit)?, asked, start })
    }
}

/// Returns one page of the sessions that the caller can see, in the order that the query names.
///
/// # Errors
/// [`crate::Error::Invalid`] for a wrong filter or time zone, or a limit above 1,000; [`crate::Error::InvalidCursor`]
/// for a cursor of another list or order.
pub async fn list(ledger: &Ledger, scope: &Scope, query: ListSessions) -> Result<Listed<Session>> {
    require(scope, Permission::Read)?;
    let (reader, query) = (*scope, ListQuery::of(scope, query, ledger.now())?);
    ledger.snapshot(scope, async move |conn| list_on(conn, &reader, query).await).await
}

/// [`list`] on an open connection.
pub(crate) async fn list_on(conn: &mut Conn<'_>, scope: &Scope, query: ListQuery) -> Result<Listed<Session>> {
    let ListQuery { filter, before, limit, asked, start } = query;
    let filter = of_parent(conn, scope, filter).await?;
    let (filter, before) = match asked {
        Some(asked) => narrowed(filter, before, asked.sessions(conn, scope).await?),
        None => (filter, before),
    };
    match start.sort {
        Sort::Newest => newest_on(conn, scope, filter, before, limit).await,
        Sort::Oldest => oldest_on(conn, scope, filter, before, (start, limit)).await,
        Sort::Duration | Sort::Cost | Sort::Activity => sorted_on(conn, scope, filter, before, (start, limit)).await,
    }
}

async fn newest_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    filter: Filter,
    before: Option<SessionId>,
    limit: u32,
) -> Result<Listed<Session>> {
    let looked = if is_search(&filter) {
        store::session::last_looked(conn, scope.tenant_id, &filter, before, SESSIONS_LOOKED_MAX).await?
    } else {
        None
    };
    // A filter by a time may end the list earlier. Then no page follows this one.
    let looked = looked.filter(|last| filter.oldest.is_none_or(|oldest| last.0 > oldest.0));
    let filter = Filter { oldest: looked.or(filter.oldest), ..filter };
    let page = store::session::list(conn, scope.tenant_id, &filter, before, limit).await?;
    Ok(Listed::of_search(page, List::Sessions, looked.map(|id| id.0), |session| session.id.0))
}

/// Returns retries of this session that the caller can see, newest first, at most `limit`.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session or the caller cannot see it; [`crate::Error::Invalid`] for a
/// `limit` above 1,000.
pub async fn retries(ledger: &Ledger, scope: &Scope, id: SessionId, limit: u32) -> Result<Vec<Session>> {
    require(scope, Permission::Read)?;
    let (reader, limit) = (*scope, page_size(limit)?);
    let read = ledger.snapshot(scope, async move |conn| {
        get_on(conn, &reader, id).await?;
        retries_on(conn, &reader, id, limit).await
    });
    read.await
}

/// [`retries`] on an open connection. The caller has checked that the session is visible.
pub(crate) async fn retries_on(conn: &mut Conn<'_>, scope: &Scope, id: SessionId, limit: u32) -> Result<Vec<Session>> {
    let filter = Filter { retry_of: Some(id), private_to: Some(scope.caller.to_string()), ..Filter::default() };
    Ok(store::session::list(conn, scope.tenant_id, &filter, None, limit).await?.items)
}
