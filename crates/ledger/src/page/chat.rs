//! The pages /chat: the caller's own conversations, and one conversation.

use crate::{
    ActionRecord, Error, Ledger, ListPage, Listed, Result,
    action::{self, ListActions},
    cursor::List as CursorOf,
    event::{self, Read, Slice},
    gate::{self, GateItem},
    guard::require,
    session,
    thread::{self, is_own, is_thread},
};
use domain::{
    Scope,
    action::ActionStatus,
    event::{Event, Known},
    id::SessionId,
    role::Permission,
    session::{Session, Status},
};
use std::collections::{BTreeSet, HashMap};
use store::Conn;

/// Number of conversations on a page.
const ROWS: u32 = 30;
/// Number of events on a page of a conversation.
const EVENTS: u32 = 300;
/// Number of actions offered for a new conversation.
const ACTIONS_MAX: u32 = 200;

/// A conversation in a list.
#[derive(Debug)]
pub struct Row {
    /// Session of the conversation.
    pub session: Session,
    /// The newest event that is not just a change of status.
    pub newest: Option<Event>,
}

/// The list page.
#[derive(Debug)]
pub struct List {
    /// The conversations, newest first.
    pub rows: Vec<Row>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Active actions, newest first. The caller can start conversations with their agents.
    pub actions: Vec<ActionRecord>,
}

/// The page of one conversation.
#[derive(Debug)]
pub struct Conversation {
    /// Session of the conversation.
    pub session: Session,
    /// Number of turns so far.
    pub turns: u64,
    /// The shown part of the log.
    pub slice: Slice,
    /// The gate at which the conversation waits for a person.
    pub gate: Option<GateItem>,
    /// Actors other than the conversation's person who answered in this part. The name is `None` if they were
    /// never members.
    pub others: Vec<(String, Option<String>)>,
}

/// Reads one page of the list.
///
/// # Errors
/// [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, cursor: Option<String>) -> Result<List> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let (before, limit) = ListPage { limit: ROWS, cursor }.before_id(CursorOf::Threads)?;
    let known = partners(scope)?;
    let read = ledger.snapshot(scope, async move |conn| {
        let Listed { items, next_cursor } = thread::list_on(conn, &reader, before, limit).await?;
        let rows = rows_on(conn, &reader, items).await?;
        Ok(List { rows, next_cursor, actions: action::list_on(conn, &reader, known).await?.items })
    });
    read.await
}

/// Returns those of these sessions that are the caller's own conversations, newest first.
///
/// # Errors
/// [`Error::Invalid`] for more than 1,000 ids.
pub async fn by_ids(ledger: &Ledger, scope: &Scope, ids: Vec<SessionId>) -> Result<Vec<Row>> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let mut found = session::list_by_ids_on(conn, &reader, &ids).await?;
        found.retain(|session| is_thread(session) && is_own(&reader, session));
        rows_on(conn, &reader, found).await
    });
    read.await
}

/// Reads a conversation of the caller: events of these kinds before a sequence, or the newest ones.
///
/// # Errors
/// [`Error::NotFound`] if there is no such conversation, or if it belongs to another person; [`Error::Invalid`] for a
/// wrong kind or too many of them.
pub async fn read(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    before: Option<u64>,
    kinds: Vec<String>,
) -> Result<Conversation> {
    require(scope, Permission::Read)?;
    let (reader, now) = (*scope, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        let (session, turns) = thread::get_on(conn, &reader, id).await?;
        if !is_own(&reader, &session) {
            return Err(Error::NotFound("thread"));
        }
        let before_sequence = Some(before.unwrap_or(session.head_sequence + 1));
        let wanted = Read { before_sequence, kinds, limit: EVENTS, ..Read::default() };
        let slice = event::read_on(conn, &session, &wanted).await?;
        let gate = match session.status() {
            Status::WaitingHuman => gate::of_sessions_on(conn, &reader, &[id], now).await?.pop(),
            _ => None,
        };
        let others = others(conn, &reader, &session, &slice.events).await?;
        Ok(Conversation { session, turns, slice, gate, others })
    });
    read.await
}

/// Returns the query for actions with whose agents the caller can start a conversation.
pub(super) fn partners(scope: &Scope) -> Result<action::ListQuery> {
    let known = ListActions { status: Some(ActionStatus::Active), limit: ACTIONS_MAX, ..ListActions::default() };
    action::ListQuery::of(scope, known)
}

async fn rows_on(conn: &mut Conn<'_>, scope: &Scope, sessions: Vec<Session>) -> Result<Vec<Row>> {
    let ids: Vec<SessionId> = sessions.iter().map(|session| session.id).collect();
    let newest = match ids.as_slice() {
        [] => Vec::new(),
        ids => store::event::newest(conn, scope.tenant_id, ids).await?,
    };
    let mut newest: HashMap<_, _> = newest.into_iter().map(|event| (event.session_id, event)).collect();
    let row = |session: Session| Row { newest: newest.remove(&session.id), session };
    Ok(sessions.into_iter().map(row).collect())
}

/// Returns the other people who answered in a conversation: not the caller and not the creator of the session.
async fn others(
    conn: &mut Conn<'_>,
    scope: &Scope,
    session: &Session,
    events: &[Event],
) -> Result<Vec<(String, Option<String>)>> {
    let own = [scope.caller.to_string(), session.created_by.clone()];
    let answered = events.iter().filter(|event| event.kind == Known::UserFormSubmit && !own.contains(&event.actor));
    let actors: BTreeSet<&str> = answered.map(|event| event.actor.as_str()).collect();
    if actors.is_empty() {
        return Ok(Vec::new());
    }
    let members = store::user::members(conn, scope.tenant_id).await?;
    let called = |actor: &str| {
        let member = members.iter().find(|member| actor == format!("user:{}", member.user_id))?;
        Some(member.display_name().to_owned())
    };
    Ok(actors.into_iter().map(|actor| (actor.to_owned(), called(actor))).collect())
}
