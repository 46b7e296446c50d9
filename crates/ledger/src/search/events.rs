//! Searching the events of a workspace, and the records that are listed before them.

use super::{
    line::{LineSearch, SearchLine, Selection},
    reached::{known, reached_on},
    records::{FoundRecord, Records, Selected, records_on},
};
use crate::{
    Ledger, Result,
    cursor::{List, decode_event, encode_event},
    guard::{Fields, require},
};
use domain::{
    Scope, Timestamp,
    id::{SessionId, TenantId},
    limit::{SEARCH_LOOKED_MAX, SEARCH_PAGE_SESSIONS, SEARCH_SESSION_HITS_MAX},
    role::Permission,
    search::{Kind, Piece, Query, searched_text, snippet},
    session::{Session, Status},
};
use std::collections::HashMap;
use store::{
    Conn,
    search::{Found, Place, Window},
    session::Filter,
};

/// Events that one statement finds.
const AT_ONCE: u32 = 200;

/// A search, its filter and its page.
#[derive(Debug, Clone, Default)]
pub struct SearchEvents {
    /// Words, of which an event must have all, and conditions on its session; see [`Line`](domain::search::Line). There
    /// must be a word.
    pub query: String,
    /// IANA name of the time zone of the query's days. `None` for UTC.
    pub timezone: Option<String>,
    /// Only what is of this kind. `None` for everything: events, and records unless the search has conditions.
    pub kind: Option<Kind>,
    /// Only sessions of this agent.
    pub agent_slug: Option<String>,
    /// Only sessions that have this status now.
    pub status: Option<Status>,
    /// Only events that were recorded at this time or later (UTC).
    pub after: Option<Timestamp>,
    /// Only events that were recorded before this time (UTC).
    pub before: Option<Timestamp>,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// A page of a search: records, then sessions in the order of their newest event that was found.
#[derive(Debug, Clone)]
pub struct FoundEvents {
    /// Tasks, entities, questions and memory documents, best first: of everything at most
    /// [`SEARCH_RECORDS_MAX`](domain::limit::SEARCH_RECORDS_MAX), of one kind at most
    /// [`SEARCH_RECORDS_OF_KIND_MAX`](domain::limit::SEARCH_RECORDS_OF_KIND_MAX). None on a page after the first.
    pub records: Vec<FoundRecord>,
    /// Whether there are other records.
    pub has_more_records: bool,
    /// Whether there are records that are older than the newest
    /// [`SEARCH_RECORDS_LOOKED_MAX`](domain::limit::SEARCH_RECORDS_LOOKED_MAX) of their kind. Those were looked for by
    /// their names alone.
    pub has_older_records: bool,
    /// At most [`SEARCH_PAGE_SESSIONS`]. A session with events on both sides of the end of a page is on both pages,
    /// with other events.
    pub sessions: Vec<FoundSession>,
    /// Cursor of the next page; `None` on the last one. A page that looked at [`SEARCH_LOOKED_MAX`] events ends, even
    /// if the filter left none of them.
    pub next_cursor: Option<String>,
    /// All events that were committed before this time are found (UTC); `None` while the index is made.
    pub indexed_until: Option<Timestamp>,
}

/// A session with events that were found.
#[derive(Debug, Clone)]
pub struct FoundSession {
    /// The session that has the events.
    pub session: Session,
    /// The newest of the page, newest first, at most [`SEARCH_SESSION_HITS_MAX`].
    pub events: Vec<FoundEvent>,
    /// Number of further events of the session that the page found.
    pub more: u64,
}

/// An event that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundEvent {
    /// Its sequence in the session.
    pub sequence: u64,
    /// Type of the event, such as `agent.message`.
    pub kind: String,
    /// Time it was recorded (UTC).
    pub recorded_at: Timestamp,
    /// Its text around the first place that was found.
    pub snippet: Vec<Piece>,
}

/// The session of some events, before the events are read.
struct Group {
    session: Session,
    found: Vec<Found>,
    more: u64,
}

/// A checked [`SearchEvents`].
struct Search {
    query: Query,
    filter: Filter,
    window: Window,
}

impl Search {
    /// The groups of a page, and the place after which the next one begins.
    async fn page(
        &self,
        conn: &mut Conn<'_>,
        tenant_id: TenantId,
        mut place: Option<Place>,
    ) -> Result<(Vec<Group>, Option<Place>)> {
        let mut groups: Vec<Group> = Vec::new();
        let mut sessions: HashMap<SessionId, Option<Session>> = HashMap::new();
        let mut looked = 0;
        while looked < SEARCH_LOOKED_MAX {
            let found = store::search::find(conn, tenant_id, &self.query, self.window, place, AT_ONCE).await?;
            self.read_sessions(conn, tenant_id, &found, &mut sessions).await?;
            for event in &found {
                if let Some(group) = groups.iter_mut().find(|group| group.session.id == event.session_id) {
                    if group.found.len() < SEARCH_SESSION_HITS_MAX {
                        group.found.push(*event);
                    } else {
                        group.more += 1;
                    }
                } else if let Some(Some(session)) = sessions.get(&event.session_id) {
                    if groups.len() == SEARCH_PAGE_SESSIONS {
                        return Ok((groups, place));
                    }
                    groups.push(Group { session: session.clone(), found: vec![*event], more: 0 });
                }
                place = Some(event.place());
            }
            if found.len() < AT_ONCE as usize {
                return Ok((groups, None));
            }
            looked += found.len();
        }
        Ok((groups, place))
    }

    /// Reads the sessions of these events that are not known yet. Those that the filter leaves out are remembered as
    /// `None`, and so are private ones: nothing of them is in the index.
    async fn read_sessions(
        &self,
        conn: &mut Conn<'_>,
        tenant_id: TenantId,
        found: &[Found],
        sessions: &mut HashMap<SessionId, Option<Session>>,
    ) -> Result<()> {
        let mut unknown = Vec::new();
        for event in found {
            sessions.entry(event.session_id).or_insert_with(|| {
                unknown.push(event.session_id);
                None
            });
        }
        if !unknown.is_empty() {
            let wanted = store::session::among(conn, tenant_id, &self.filter, &unknown).await?;
            sessions.extend(wanted.into_iter().map(|session| (session.id, Some(session))));
        }
        Ok(())
    }
}

/// The time that is in both windows.
fn both(a: Window, b: Window) -> Window {
    let before = a.before.into_iter().chain(b.before).min();
    Window { after: a.after.max(b.after), before }
}

/// Searches what the caller can see: records first, then events, newest first, grouped by session.
///
/// # Errors
/// [`crate::Error::Invalid`] for a query that is none, with the place where it is wrong, for a slug that is none, and
/// for conditions in a search for records; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn events(ledger: &Ledger, scope: &Scope, search: SearchEvents) -> Result<FoundEvents> {
    require(scope, Permission::Read)?;
    let mut fields = Fields::default();
    fields.agent("agent", search.agent_slug.as_deref());
    fields.check()?;
    let line = SearchLine { text: search.query, timezone: search.timezone };
    let asked = LineSearch::of(&line, ledger.now())?;
    let query = asked.query()?.clone();
    let is_filtered = search.agent_slug.is_some() || search.status.is_some();
    let is_narrowed =
        is_filtered || search.after.is_some() || search.before.is_some() || !asked.line.conditions.is_empty();
    let kind = search.kind;
    let selected = Selected::of(kind, is_narrowed, search.cursor.is_some())?;
    let place = search.cursor.as_deref().map(|cursor| decode_event(List::FoundEvents, cursor)).transpose()?;
    let place = place.map(|(position, session, sequence)| Place { position, session_id: SessionId(session), sequence });
    let window = Window { after: search.after, before: search.before };
    // Private sessions are of no one here: nothing of them is in the index.
    let filter = Filter { agent_slug: search.agent_slug, status: search.status, ..Filter::default() };
    let (reader, tenant_id, known) = (*scope, scope.tenant_id, known(ledger));
    let found = ledger.snapshot(scope, async move |conn| {
        let Selection { matching, window: asked_for } = asked.conditions(conn, &reader).await?;
        let search = Search { query, filter: Filter { matching, ..filter }, window: both(window, asked_for) };
        let indexed_until = reached_on(conn, known).await?;
        let found = records_on(conn, tenant_id, &search.query, selected).await?;
        let Records { items: records, has_more: has_more_records, has_older: has_older_records } = found;
        let (groups, place) = match kind {
            None | Some(Kind::Event) => search.page(conn, tenant_id, place).await?,
            Some(_) => (Vec::new(), None),
        };
        let sessions = with_texts(conn, tenant_id, &search.query, groups).await?;
        let cursor = |at: Place| encode_event(List::FoundEvents, at.position, at.session_id.0, at.sequence);
        let next_cursor = place.map(cursor);
        Ok(FoundEvents { records, has_more_records, has_older_records, sessions, next_cursor, indexed_until })
    });
    found.await
}

/// Most agents that searches suggest.
const AGENTS_MAX: u32 = 50;

/// Slugs of agents that a search can name, in alphabetical order.
pub async fn agents(ledger: &Ledger, scope: &Scope) -> Result<Vec<String>> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), async move |conn| store::session::named_agents(conn, tenant_id, AGENTS_MAX).await);
    Ok(read.await?)
}

/// Reads the events of the groups.
async fn with_texts(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    query: &Query,
    groups: Vec<Group>,
) -> Result<Vec<FoundSession>> {
    let all: Vec<Found> = groups.iter().flat_map(|group| &group.found).copied().collect();
    let events = store::search::events(conn, tenant_id, &all).await?;
    let snippets: HashMap<_, _> = events
        .into_iter()
        .map(|event| {
            let text = searched_text(&event.event_type, &event.content, &event.metadata);
            ((event.session_id, event.sequence), (snippet(&text, query), event.event_type))
        })
        .collect();
    let event = |found: &Found| {
        let (snippet, kind) = snippets.get(&(found.session_id, found.sequence))?.clone();
        Some(FoundEvent { sequence: found.sequence, kind, recorded_at: found.recorded_at, snippet })
    };
    let session = |group: Group| {
        let events = group.found.iter().filter_map(event).collect();
        FoundSession { session: group.session, events, more: group.more }
    };
    Ok(groups.into_iter().map(session).collect())
}
