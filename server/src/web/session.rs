//! /sessions/{id}: the page, its fragments, and its forms.

use super::{
    form::Form,
    rating,
    shell::{Turned, Viewer, done, refuse, render},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    session::{self as ui, OpensAt, Props, Summary, Titles},
};
use axum::{
    Router,
    extract::{Query, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use domain::{event::Kind, id::SessionId, session::Status};
use ledger::{
    EventRecord, MemberRecord, Scope, SessionRecord, action, event,
    event::Read,
    failure,
    gate::{self, MayDecide},
    human, member,
    session::{self, ListSessions},
};
use serde::Deserialize;

/// Events of one page, and of one fragment of earlier ones.
const PAGE_EVENTS: u32 = 200;
/// How many later events than the error a failed session's page holds.
const BEYOND_ERROR: u64 = 100;
/// Child sessions and retries named in the margin.
const CHILDREN_MAX: u32 = 50;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/sessions/{id}", get(show))
        .route("/sessions/{id}/rows", get(rows))
        .route("/sessions/{id}/summary", get(summary))
        .route("/sessions/{id}/cancel", post(cancel))
        .route("/sessions/{id}/retry", post(retry))
        .route("/sessions/{id}/acknowledge", post(acknowledge))
}

#[derive(Default, Deserialize)]
struct PageQuery {
    before: Option<u64>,
    after: Option<u64>,
    /// `end` for the newest events.
    at: Option<String>,
    kinds: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Query(query): Query<PageQuery>,
) -> Result<Response, Turned> {
    let props = read(&state, &viewer, id, &query, FormState::default()).await?;
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn read(
    state: &AppState,
    viewer: &Viewer,
    id: SessionId,
    query: &PageQuery,
    form: FormState,
) -> Result<Props, Turned> {
    let (ledger, scope) = (&state.ledger, &viewer.scope);
    let session = session::get(ledger, scope, id).await?;
    let head = session.head_sequence;
    let (wanted, opens_at) = part(state, scope, &session, query).await?;
    let mut props = read_around(state, viewer, session, query.kinds.clone().unwrap_or_default()).await?;
    let kinds = ui::types_of_groups(&props.kinds, &props.kind_counts);
    let (before, after) = (wanted.before_sequence, wanted.after_sequence);
    let slice = event::read(ledger, scope, id, Read { kinds, limit: PAGE_EVENTS, ..wanted }).await?;
    props.titles = titles(state, scope, &slice.events).await?;
    (props.has_earlier, props.has_later) = match before {
        Some(before) => (slice.has_more, before <= head),
        None => (after.is_some_and(|after| after > 0), slice.has_more),
    };
    props.events = slice.events.into_iter().map(wire_map::event).collect();
    Ok(Props { opens_at, form, ..props })
}

/// Which part of the log is read: the one asked for; the newest of a session that goes on; of one that has ended the
/// beginning, or what surrounds the error it failed with.
async fn part(
    state: &AppState,
    scope: &Scope,
    session: &SessionRecord,
    query: &PageQuery,
) -> Result<(Read, OpensAt), Turned> {
    let before = |before: u64| Read { before_sequence: Some(before), ..Read::default() };
    let after = |after: u64| Read { after_sequence: Some(after), ..Read::default() };
    let end = session.head_sequence + 1;
    Ok(match (query.before, query.after) {
        (Some(sequence), _) => (before(sequence), OpensAt::Start),
        (None, Some(sequence)) => (after(sequence), OpensAt::Start),
        _ if query.at.as_deref() == Some("end") || !session.status.is_final() => (before(end), OpensAt::End),
        _ if session.status == Status::Failed => {
            let last_error = Read { kinds: vec![Kind::SESSION_ERROR.to_owned()], limit: 1, ..before(end) };
            match event::read(&state.ledger, scope, session.id, last_error).await?.events.first() {
                Some(error) => {
                    let beyond = (error.sequence + BEYOND_ERROR).min(end);
                    (before(beyond), OpensAt::Event(error.sequence))
                }
                None => (after(0), OpensAt::Start),
            }
        }
        _ => (after(0), OpensAt::Start),
    })
}

/// The page without any part of the log.
async fn read_around(
    state: &AppState,
    viewer: &Viewer,
    session: SessionRecord,
    kinds: String,
) -> Result<Props, Turned> {
    let (ledger, scope, id) = (&state.ledger, &viewer.scope, session.id);
    let parent = match session.parent_id {
        Some(parent) => Some(wire_map::session(session::get(ledger, scope, parent).await?)),
        None => None,
    };
    let children = ListSessions { parent_id: Some(id), limit: CHILDREN_MAX, ..Default::default() };
    let children = session::list(ledger, scope, children).await?;
    Ok(Props {
        events: Vec::new(),
        opens_at: OpensAt::Start,
        titles: Titles::default(),
        has_earlier: false,
        has_later: false,
        kind_counts: event::kind_counts(ledger, scope, id).await?,
        retries: retries(state, scope, &session).await?,
        summary: summarise(state, viewer, session).await?,
        kinds,
        parent,
        graph: wire_map::dependencies(session::related(ledger, scope, id).await?),
        has_more_children: children.next_cursor.is_some(),
        children: children.items.into_iter().map(wire_map::session).collect(),
        form: FormState::default(),
    })
}

/// What the entities are called that people looked at, and the people who decided something.
pub async fn titles(state: &AppState, scope: &Scope, events: &[EventRecord]) -> Result<Titles, Turned> {
    let named = human::viewed(&state.ledger, scope, events).await?;
    let mut titles: Titles = named.into_iter().map(|(id, title)| (id.to_string(), title)).collect();
    let deciders: Vec<String> =
        events.iter().filter(|event| event.kind.starts_with("user.")).map(|event| event.actor.to_string()).collect();
    if !deciders.is_empty() {
        let members = member::everybody(&state.ledger, scope).await?;
        let called = |member: &MemberRecord| (format!("user:{}", member.user_id), member.called().to_owned());
        let people = members.iter().map(called);
        titles.extend(people.filter(|(actor, _)| deciders.contains(actor)));
    }
    Ok(titles)
}

/// Sessions that repeat this one.
async fn retries(state: &AppState, scope: &Scope, of: &SessionRecord) -> Result<Vec<wire::session::Session>, Turned> {
    if !of.status.is_final() {
        return Ok(Vec::new());
    }
    let repeats = session::retries(&state.ledger, scope, of.id, CHILDREN_MAX).await?;
    Ok(repeats.into_iter().map(wire_map::session).collect())
}

async fn summarise(state: &AppState, viewer: &Viewer, session: SessionRecord) -> Result<Summary, Turned> {
    let scope = &viewer.scope;
    let action_name = match session.action_id {
        Some(id) => Some(action::get(&state.ledger, scope, id).await?.name),
        None => None,
    };
    let timeline = event::timeline(&state.ledger, scope, session.id).await?;
    let failure = failure::of_sessions(&state.ledger, scope, &[session.id]).await?.pop();
    let waits = matches!(session.status, Status::WaitingHuman | Status::AwaitingTool);
    let gate = match waits {
        true => gate::of_sessions(&state.ledger, scope, vec![session.id]).await?.pop(),
        false => None,
    };
    Ok(Summary {
        failure: failure.map(wire_map::session_failure),
        rating: rating::of(state, viewer, &session).await,
        gate: gate.map(|item| (item.gate.id.to_string(), item.may_decide == MayDecide::Yes)),
        session: wire_map::session(session),
        action_name,
        timeline: timeline.into_iter().map(wire_map::event).collect(),
        shown: (0, 0),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RowsQuery {
    after_sequence: Option<u64>,
    before_sequence: Option<u64>,
    kinds: Option<String>,
}

/// Rows of the transcript, with where they stand in headers.
async fn rows(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Query(query): Query<RowsQuery>,
) -> Result<Response, Turned> {
    let kinds = match query.kinds.as_deref().filter(|kinds| !kinds.is_empty()) {
        Some(groups) => ui::types_of_groups(groups, &event::kind_counts(&state.ledger, &viewer.scope, id).await?),
        None => Vec::new(),
    };
    let wanted = Read {
        after_sequence: query.after_sequence,
        before_sequence: query.before_sequence,
        kinds,
        limit: PAGE_EVENTS,
    };
    let slice = event::read(&state.ledger, &viewer.scope, id, wanted).await?;
    let titles = titles(&state, &viewer.scope, &slice.events).await?;
    let events: Vec<_> = slice.events.into_iter().map(wire_map::event).collect();
    let last = events.last().map_or(0, |event| event.sequence);
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("x-head-sequence", slice.head_sequence.to_string()),
        ("x-last-sequence", last.to_string()),
        ("x-has-more", slice.has_more.to_string()),
        ("x-status", slice.status.to_string()),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    let html = ui::rows_fragment(&id.to_string(), &events, &titles);
    Ok((headers, Html(html)).into_response())
}

/// What moves while the session goes on. The chips count every event, whatever the page is filtered by.
async fn summary(State(state): State<AppState>, viewer: Viewer, Id(id): Id<SessionId>) -> Result<Html<String>, Turned> {
    let session = session::get(&state.ledger, &viewer.scope, id).await?;
    let props = read_around(&state, &viewer, session, String::new()).await?;
    Ok(Html(ui::moving_fragment(&viewer.shell, &props)))
}

async fn cancel(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, Turned> {
    match session::cancel(&state.ledger, &viewer.scope, id, form.optional("reason")).await {
        Ok(_) => Ok(done(&format!("/sessions/{id}"), "cancelled").into_response()),
        Err(error) => refused(&state, viewer, id, &form, "cancel", error.into()).await,
    }
}

async fn retry(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, Turned> {
    match session::retry(&state.ledger, &viewer.scope, id).await {
        Ok(new) => Ok(Redirect::to(&format!("/sessions/{}?notice=retried", new.id)).into_response()),
        Err(error) => refused(&state, viewer, id, &form, "retry", error.into()).await,
    }
}

async fn acknowledge(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, Turned> {
    match failure::acknowledge(&state.ledger, &viewer.scope, id).await {
        // The list that it was pressed in, or the session's own page.
        Ok(_) if form.optional("back").as_deref() == Some("/today") => {
            Ok(done("/today", "acknowledged").into_response())
        }
        Ok(_) => Ok(done(&format!("/sessions/{id}"), "acknowledged").into_response()),
        Err(error) => refused(&state, viewer, id, &form, "acknowledge", error.into()).await,
    }
}

/// The page again with the refusal on it. What is not there for the caller stays an error page.
pub async fn refused(
    state: &AppState,
    viewer: Viewer,
    id: SessionId,
    form: &Form,
    name: &str,
    problem: Problem,
) -> Result<Response, Turned> {
    let props = read(state, &viewer, id, &PageQuery::default(), form.refused(name, &problem)).await?;
    Ok(refuse(&problem, move || ui::page(&viewer.shell, props)).await)
}
