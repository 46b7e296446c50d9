//! The page /sessions: a list of sessions.

use super::{
    names::{People, people_on},
    row::{Row, rows},
};
use crate::{
    ActionRecord, Error, Ledger, Result, SavedSearchRecord,
    action::{self, ListActions},
    guard::require,
    search::{LineSearch, SearchLine, owner, saved_on},
    session::{self, Counted, ListQuery, ListSessions},
};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    id::{SessionId, UserId},
    limit::{SAVED_SEARCH_COUNT_SECONDS, SAVED_SEARCHES_COUNTED_MAX, SAVED_SEARCHES_IN_RAIL_MAX},
    role::Permission,
};
use store::Conn;

/// Number of actions offered as a filter.
const ACTIONS_MAX: u32 = 200;
/// Number of agents offered as a filter.
const AGENTS_MAX: u32 = 50;

/// Everything that the list of sessions shows.
#[derive(Debug, Default)]
pub struct Page {
    /// The sessions, in the order of the list.
    pub rows: Vec<Row>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Actions to filter by, newest first. The action of the filter is the last one if it is older than these.
    pub actions: Vec<ActionRecord>,
    /// Slugs of agents to filter by.
    pub agents: Vec<String>,
    /// The first [`SAVED_SEARCHES_COUNTED_MAX`] searches that the reader sees: their own and then those of others, by
    /// name.
    pub saved: Vec<CountedSearch>,
    /// Number of all searches that the reader sees.
    pub saved_total: usize,
    /// Names of everyone who may have created a session; `None` unless the query asked for them.
    pub people: Option<People>,
}

/// A saved search with its number of sessions.
#[derive(Debug)]
pub struct CountedSearch {
    /// The saved search.
    pub search: SavedSearchRecord,
    /// How many sessions it selects. `None` for a search with words, which takes too long to count, and for one that
    /// is refused by now.
    pub count: Option<Counted>,
}

/// What the page shows beside its list.
#[derive(Debug, Clone, Copy)]
pub struct Beside<'z> {
    /// IANA name of the time zone of the days in saved searches.
    pub timezone: &'z str,
    /// Whether the names of people and tokens are shown.
    pub people: bool,
}

/// The page /sessions/saved.
#[derive(Debug)]
pub struct SavedPage {
    /// Searches that the reader sees, by name.
    pub saved: Vec<SavedSearchRecord>,
    /// Everyone who may have saved one.
    pub people: People,
}

/// Reads one page of the list.
///
/// # Errors
/// [`crate::Error::Invalid`] for a wrong filter or a limit above 1,000; [`crate::Error::InvalidCursor`] for a cursor of
/// another list or order.
pub async fn read(ledger: &Ledger, scope: &Scope, query: ListSessions, beside: Beside<'_>) -> Result<Page> {
    require(scope, Permission::Read)?;
    let (filtered, timezone, with_people) = (query.action_id, beside.timezone.to_owned(), beside.people);
    let (reader, now, asked) = (*scope, ledger.now(), ListQuery::of(scope, query, ledger.now())?);
    let actions = ListActions { limit: ACTIONS_MAX, ..ListActions::default() };
    let actions = action::ListQuery::of(scope, actions)?;
    let read = ledger.snapshot(scope, async move |conn| {
        let listed = session::list_on(conn, &reader, asked).await?;
        let mut actions = action::list_on(conn, &reader, actions).await?.items;
        // Without its option the form would show "Any task", and the next filter would lose the action.
        if let Some(id) = filtered.filter(|id| actions.iter().all(|action| action.id != *id)) {
            actions.extend(store::action::find(conn, reader.tenant_id, id).await?);
        }
        let agents = store::session::named_agents(conn, reader.tenant_id, AGENTS_MAX).await?;
        let (saved, saved_total) = saved_with_counts(conn, &reader, &timezone, now).await?;
        let people = if with_people { Some(people_on(conn, reader.tenant_id).await?) } else { None };
        let rows = rows(conn, &reader, listed.items, now).await?;
        Ok(Page { rows, next_cursor: listed.next_cursor, actions, agents, saved, saved_total, people })
    });
    read.await
}

/// The first saved searches that the reader sees, and the number of all.
async fn saved_with_counts(
    conn: &mut Conn<'_>,
    reader: &Scope,
    timezone: &str,
    now: Timestamp,
) -> Result<(Vec<CountedSearch>, usize)> {
    let Some(user_id) = reader.acting_user() else { return Ok((Vec::new(), 0)) };
    let all = in_order(conn, reader, user_id).await?;
    let total = all.len();
    let mut saved = Vec::new();
    for search in all.into_iter().take(SAVED_SEARCHES_COUNTED_MAX) {
        let count = count(conn, reader, line_of(&search, timezone), now).await?;
        saved.push(CountedSearch { search, count });
    }
    Ok((saved, total))
}

/// The searches that a person sees: their own and then those of others, by name.
async fn in_order(conn: &mut Conn<'_>, reader: &Scope, user_id: UserId) -> Result<Vec<SavedSearchRecord>> {
    let mut all = saved_on(conn, reader, user_id).await?;
    // A stable sort: by name among their own and among the others.
    all.sort_by_key(|search| search.user_id != user_id);
    Ok(all)
}

fn line_of(search: &SavedSearchRecord, timezone: &str) -> SearchLine {
    SearchLine { text: search.line.clone(), timezone: Some(timezone.to_owned()) }
}

/// Reads the first [`SAVED_SEARCHES_IN_RAIL_MAX`] searches that a person sees, for the navigation of every page. A
/// count can be [`SAVED_SEARCH_COUNT_SECONDS`] old: pages are opened more often than that, and each would count anew.
/// None for a caller who is no person.
///
/// # Errors
/// Errors of the database.
pub async fn in_rail(ledger: &Ledger, scope: &Scope, timezone: &str) -> Result<Vec<CountedSearch>> {
    let Some(user_id) = scope.user_id() else { return Ok(Vec::new()) };
    let (reader, zone, now, kept) = (*scope, timezone.to_owned(), ledger.now(), ledger.clone());
    let read = ledger.snapshot(scope, async move |conn| {
        let mut saved = Vec::new();
        for search in in_order(conn, &reader, user_id).await?.into_iter().take(SAVED_SEARCHES_IN_RAIL_MAX) {
            let key = (reader.tenant_id, user_id, search.line.clone(), zone.clone());
            let is_recent = |at: Timestamp| now - at < TimeDelta::seconds(SAVED_SEARCH_COUNT_SECONDS);
            let count = match kept.saved_counts().get(&key).filter(|(at, _)| is_recent(*at)) {
                Some((_, count)) => count,
                None => {
                    let count = count(conn, &reader, line_of(&search, &zone), now).await?;
                    kept.saved_counts().insert(key, (now, count));
                    count
                }
            };
            saved.push(CountedSearch { search, count });
        }
        Ok(saved)
    });
    read.await
}

/// Counts the sessions of a line. `None` for a line with words, and for one that is refused.
async fn count(conn: &mut Conn<'_>, reader: &Scope, line: SearchLine, now: Timestamp) -> Result<Option<Counted>> {
    let Ok(line) = LineSearch::of(&line, now) else { return Ok(None) };
    if line.has_words() {
        return Ok(None);
    }
    match session::count_on(conn, reader, &line, now).await {
        Ok(counted) => Ok(Some(counted)),
        // A member whom the line names may have been removed.
        Err(Error::Invalid(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the searches that a person sees.
///
/// # Errors
/// [`crate::Error::Forbidden`] for a caller who is no person.
pub async fn saved(ledger: &Ledger, scope: &Scope) -> Result<SavedPage> {
    let (reader, user_id) = (*scope, owner(scope)?);
    let read = ledger.snapshot(scope, async move |conn| {
        let saved = saved_on(conn, &reader, user_id).await?;
        Ok(SavedPage { saved, people: people_on(conn, reader.tenant_id).await? })
    });
    read.await
}

/// Reads the rows of those of these sessions that the caller can see, newest first, and the names of everyone who may
/// have created a session if they are asked for.
///
/// # Errors
/// [`crate::Error::Invalid`] for more than 1,000 ids.
pub async fn by_ids(
    ledger: &Ledger,
    scope: &Scope,
    ids: Vec<SessionId>,
    with_people: bool,
) -> Result<(Vec<Row>, Option<People>)> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let sessions = session::list_by_ids_on(conn, &reader, &ids).await?;
        let people = if with_people { Some(people_on(conn, reader.tenant_id).await?) } else { None };
        Ok((rows(conn, &reader, sessions, now).await?, people))
    });
    read.await
}
