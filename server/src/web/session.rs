//! /sessions/{id}: the page, its fragments, and its forms.

use super::{
    form::Form,
    rating,
    shell::{Turned, Viewer, done, refuse, render},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    session::{self as ui, Props, Summary, Titles},
};
use axum::{
    Router,
    extract::{Query, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use domain::{id::SessionId, session::Status};
use ledger::{
    EventRecord, Scope, SessionRecord, action, event,
    event::Read,
    failure,
    gate::{self, MayDecide},
    human, member,
    session::{self, ListSessions},
};
use serde::Deserialize;

/// Events of one page, and of one fragment of earlier ones.
const PAGE_EVENTS: u32 = 200;
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

#[derive(Deserialize)]
struct PageQuery {
    before: Option<u64>,
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
    let kind_counts = event::kind_counts(ledger, scope, id).await?;
    let kinds = query.kinds.clone().unwrap_or_default();
    let before = query.before.unwrap_or(session.head_sequence + 1);
    let wanted = Read {
        before_sequence: Some(before),
        kinds: ui::types_of_groups(&kinds, &kind_counts),
        limit: PAGE_EVENTS,
        ..Read::default()
    };
    let slice = event::read(ledger, scope, id, wanted).await?;
    let parent = match session.parent_id {
        Some(parent) => Some(wire_map::session(session::get(ledger, scope, parent).await?)),
        None => None,
    };
    let children = ListSessions { parent_id: Some(id), limit: CHILDREN_MAX, ..Default::default() };
    let children = session::list(ledger, scope, children).await?;
    let titles = titles(state, scope, &slice.events).await?;
    Ok(Props {
        titles,
        retries: retries(state, scope, &session).await?,
        has_earlier: slice.has_more,
        has_later: before <= session.head_sequence,
        events: slice.events.into_iter().map(wire_map::event).collect(),
        summary: summarise(state, viewer, session).await?,
        kinds,
        kind_counts,
        parent,
        graph: wire_map::dependencies(session::related(ledger, scope, id).await?),
        has_more_children: children.next_cursor.is_some(),
        children: children.items.into_iter().map(wire_map::session).collect(),
        form,
    })
}

/// What the entities are called that people looked at, and the people who decided something.
pub async fn titles(state: &AppState, scope: &Scope, events: &[EventRecord]) -> Result<Titles, Turned> {
    let named = human::viewed(&state.ledger, scope, events).await?;
    let mut titles: Titles = named.into_iter().map(|(id, title)| (id.to_string(), title)).collect();
    let deciders: Vec<String> =
        events.iter().filter(|event| event.kind.starts_with("user.")).map(|event| event.actor.to_string()).collect();
    if !deciders.is_empty() {
        let members = member::list(&state.ledger, scope).await?;
        let people = members.into_iter().map(|member| (format!("user:{}", member.user_id), member.email));
        titles.extend(people.filter(|(actor, _)| deciders.contains(actor)));
    }
    Ok(titles)
}

/// Sessions of the same action that repeat this one.
async fn retries(state: &AppState, scope: &Scope, of: &SessionRecord) -> Result<Vec<wire::session::Session>, Turned> {
    if !of.status.is_final() {
        return Ok(Vec::new());
    }
    let wanted = ListSessions { action_id: of.action_id, limit: CHILDREN_MAX, ..Default::default() };
    let listed = session::list(&state.ledger, scope, wanted).await?;
    let repeats = listed.items.into_iter().filter(|session| session.retry_of == Some(of.id));
    Ok(repeats.map(wire_map::session).collect())
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

async fn summary(State(state): State<AppState>, viewer: Viewer, Id(id): Id<SessionId>) -> Result<Html<String>, Turned> {
    let session = session::get(&state.ledger, &viewer.scope, id).await?;
    let summary = summarise(&state, &viewer, session).await?;
    Ok(Html(ui::summary_fragment(&viewer.shell, &summary)))
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
    let query = PageQuery { before: None, kinds: None };
    let props = read(state, &viewer, id, &query, form.refused(name, &problem)).await?;
    Ok(refuse(&problem, move || ui::page(&viewer.shell, props)).await)
}
