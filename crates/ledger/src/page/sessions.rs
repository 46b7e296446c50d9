//! The page /sessions: a list of sessions.

use super::{
    names::{People, people_on},
    row::{Row, rows},
};
use crate::{
    ActionRecord, Ledger, Result, SavedSearchRecord,
    action::{self, ListActions},
    guard::require,
    search::{owner, saved_on},
    session::{self, ListQuery, ListSessions},
};
use domain::{Scope, id::SessionId, role::Permission};

/// Number of actions offered as a filter.
const ACTIONS_MAX: u32 = 200;
/// Number of agents offered as a filter.
const AGENTS_MAX: u32 = 50;

/// Everything that the list of sessions shows.
#[derive(Debug, Default)]
pub struct Page {
    /// The sessions, newest first.
    pub rows: Vec<Row>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Actions to filter by, newest first. The action of the filter is the last one if it is older than these.
    pub actions: Vec<ActionRecord>,
    /// Slugs of agents to filter by.
    pub agents: Vec<String>,
    /// Searches that the reader sees, by name.
    pub saved: Vec<SavedSearchRecord>,
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
/// another list.
pub async fn read(ledger: &Ledger, scope: &Scope, query: ListSessions) -> Result<Page> {
    require(scope, Permission::Read)?;
    let filtered = query.action_id;
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
        let saved = match reader.acting_user() {
            Some(user_id) => saved_on(conn, &reader, user_id).await?,
            None => Vec::new(),
        };
        let rows = rows(conn, &reader, listed.items, now).await?;
        Ok(Page { rows, next_cursor: listed.next_cursor, actions, agents, saved })
    });
    read.await
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

/// Reads the rows of those of these sessions that the caller can see, newest first.
///
/// # Errors
/// [`crate::Error::Invalid`] for more than 1,000 ids.
pub async fn by_ids(ledger: &Ledger, scope: &Scope, ids: Vec<SessionId>) -> Result<Vec<Row>> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let sessions = session::list_by_ids_on(conn, &reader, &ids).await?;
        rows(conn, &reader, sessions, now).await
    });
    read.await
}
