//! /chat: the viewer's own conversations with agents. Scripts request the changing part of a page (`x-fragment`,
//! `/live`); everything also works with forms that post and redirect.

use super::{
    form::Form,
    fragment::wants_fragment,
    posted::Posted,
    rating,
    sessions::connect,
    shell::{PageRejection, Viewer, refuse, render},
};
use crate::{extract::Id, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    chat::{self as ui, Conversation, Entry, Gate, ListProps, Props},
};
use axum::{
    Router,
    extract::{Query, State},
    http::{HeaderMap, StatusCode},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use domain::{
    gate::GateKind,
    id::SessionId,
    session::Status,
    session_feedback::{Label, Surface},
};
use ledger::{
    ActionRecord, Error, SessionRecord, feedback,
    gate::{self, MayDecide, Reply},
    page::chat as page,
    thread::{self, Ending, Message, NewThread, Summary},
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use wire::Code;

/// Most rows that one request reads again.
const IDS_MAX: usize = 100;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/chat", get(list).post(start))
        .route("/chat/rows", get(rows))
        .route("/chat/{id}", get(show))
        .route("/chat/{id}/live", get(live))
        .route("/chat/{id}/messages", post(say))
        .route("/chat/{id}/interrupt", post(interrupt))
        .route("/chat/{id}/end", post(end))
}

#[derive(Default, Deserialize)]
struct ListQuery {
    cursor: Option<String>,
    /// Agent of the new conversation: a slug, or the id of an action.
    agent: Option<String>,
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<ListQuery>,
) -> Result<Response, PageRejection> {
    let props = read_list(&state, &viewer, query, FormState::default()).await?;
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

async fn read_list(
    state: &AppState,
    viewer: &Viewer,
    query: ListQuery,
    form: FormState,
) -> Result<ListProps, PageRejection> {
    let is_continued = query.cursor.is_some();
    let list = page::list(&state.ledger, &viewer.scope, query.cursor).await?;
    Ok(ListProps {
        entries: list.rows.into_iter().map(entry).collect(),
        next_cursor: list.next_cursor,
        is_continued,
        with: conversation_partners(state, viewer, list.actions),
        chosen: query.agent,
        connect: connect(viewer),
        form,
    })
}

/// Converts a conversation and its newest event to an entry of the list.
fn entry(row: page::Row) -> Entry {
    Entry { thread: wire_map::thread(row.session, None), last: row.newest.map(wire_map::event) }
}

/// Returns the partners of new conversations: agents by their names, then tasks that name an agent.
pub fn conversation_partners(state: &AppState, viewer: &Viewer, actions: Vec<ActionRecord>) -> Vec<(String, String)> {
    let here = viewer.shell.viewer.as_ref().map(|me| me.tenant.slug.clone()).unwrap_or_default();
    let of_server = state.agents.iter().filter(|(workspace, _)| *workspace == here).map(|(_, agent)| agent.clone());
    let agents: BTreeSet<String> = actions.iter().filter_map(|a| a.agent_slug.clone()).chain(of_server).collect();
    let mut partners: Vec<(String, String)> = agents.into_iter().map(|agent| (agent.clone(), agent)).collect();
    let task =
        |action: ActionRecord| Some((action.id.to_string(), format!("{} · {}", action.agent_slug?, action.name)));
    partners.extend(actions.into_iter().filter_map(task));
    partners
}

#[derive(Deserialize)]
struct RowsQuery {
    ids: String,
}

async fn rows(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<RowsQuery>,
) -> Result<Html<String>, PageRejection> {
    let ids: Vec<SessionId> = query.ids.split(',').take(IDS_MAX).filter_map(|id| id.parse().ok()).collect();
    let rows = page::by_ids(&state.ledger, &viewer.scope, ids).await?;
    let entries: Vec<_> = rows.into_iter().map(entry).collect();
    Ok(Html(ui::rows_fragment(&entries)))
}

async fn start(State(state): State<AppState>, Posted { viewer, form }: Posted) -> Result<Response, PageRejection> {
    let new = NewThread {
        agent: form.text("agent"),
        incognito: form.has("incognito"),
        title: None,
        // An empty message starts no conversation: it is refused as an error of its field.
        message: Some(form.text("message")),
        idempotency_key: form.optional("key").map(|key| format!("web-{key}")),
    };
    match thread::start(&state.ledger, &viewer.scope, new).await {
        Ok(begun) => Ok(Redirect::to(&format!("/chat/{}", begun.session.id)).into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            let refused = form.refused("begin", &problem);
            let props = read_list(&state, &viewer, ListQuery::default(), refused).await?;
            Ok(refuse(&problem, move || ui::list_page(&viewer.shell, props)).await)
        }
    }
}

#[derive(Default, Deserialize)]
struct PageQuery {
    before: Option<u64>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Query(query): Query<PageQuery>,
) -> Result<Response, PageRejection> {
    let talk = read(&state, &viewer, id, query.before).await?;
    let props = Props { conversation: talk, form: FormState::default() };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn live(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Query(query): Query<PageQuery>,
) -> Result<Html<String>, PageRejection> {
    let talk = read(&state, &viewer, id, query.before).await?;
    Ok(Html(ui::fragment(&viewer.shell, &talk)))
}

/// Returns a conversation of the viewer. For conversations of others the answer is "not found".
async fn own(state: &AppState, viewer: &Viewer, id: SessionId) -> Result<SessionRecord, Problem> {
    let (session, _) = thread::get(&state.ledger, &viewer.scope, id).await?;
    if thread::is_own(&viewer.scope, &session) { Ok(session) } else { Err(Error::NotFound("thread").into()) }
}

async fn read(
    state: &AppState,
    viewer: &Viewer,
    id: SessionId,
    before: Option<u64>,
) -> Result<Conversation, PageRejection> {
    let (ledger, scope) = (&state.ledger, &viewer.scope);
    let found = page::read(ledger, scope, id, before, Conversation::kinds()).await?;
    let memory = match feedback::status_of(ledger, scope, &found.session, found.turns).await {
        Ok(status) => Some(wire_map::memory_status(&status)),
        Err(error) => {
            tracing::warn!(%error, "a conversation is shown without what is kept of it");
            None
        }
    };
    Ok(Conversation {
        others: found.others.into_iter().map(other).collect(),
        resend_id: thread::resend_id(&found.session).to_string(),
        events: found.slice.events.into_iter().map(wire_map::event).collect(),
        has_earlier: found.slice.has_more,
        before,
        summary: Summary::of(&found.session).map(wire_map::thread_summary),
        gate: found.gate.map(|item| Gate {
            id: item.gate.id.to_string(),
            is_question: item.gate.kind == GateKind::Question,
            may_decide: item.may_decide == MayDecide::Yes,
        }),
        memory,
        rating: rating::of(state, viewer, &found.session).await,
        refused: None,
        thread: wire_map::thread(found.session, None),
    })
}

/// Returns the display name of another person or program that answered.
fn other((actor, name): (String, Option<String>)) -> (String, String) {
    let unnamed = if actor.starts_with("user:") { "A former member" } else { "A program" };
    let name = name.unwrap_or_else(|| unnamed.to_owned());
    (actor, name)
}

/// Answers after a change: a redirect to the page, or its changing part for scripts.
async fn updated_page(
    state: &AppState,
    viewer: Viewer,
    id: SessionId,
    headers: &HeaderMap,
) -> Result<Response, PageRejection> {
    if !wants_fragment(headers) {
        return Ok(Redirect::to(&format!("/chat/{id}")).into_response());
    }
    let talk = read(state, &viewer, id, None).await?;
    Ok(Html(ui::fragment(&viewer.shell, &talk)).into_response())
}

/// Answers after a refusal: the page with the reason and the typed text, or its changing part for scripts.
async fn refused_page(
    state: &AppState,
    viewer: Viewer,
    id: SessionId,
    (headers, form, name): (&HeaderMap, &Form, &str),
    problem: Problem,
) -> Result<Response, PageRejection> {
    if !wants_fragment(headers) {
        return refused(state, viewer, id, form, name, problem).await;
    }
    let mut talk = read(state, &viewer, id, None).await?;
    let why: Vec<_> = form.refused(name, &problem).errors.into_iter().map(|error| error.message).collect();
    talk.refused = Some(why.join(" "));
    let mut response = (problem.status(), Html(ui::fragment(&viewer.shell, &talk))).into_response();
    problem.mark(&mut response);
    Ok(response)
}

/// Shows the page again with the refusal. For a conversation of another person the answer is an error page.
pub async fn refused(
    state: &AppState,
    viewer: Viewer,
    id: SessionId,
    form: &Form,
    name: &str,
    problem: Problem,
) -> Result<Response, PageRejection> {
    let talk = read(state, &viewer, id, None).await?;
    let props = Props { conversation: talk, form: form.refused(name, &problem) };
    Ok(refuse(&problem, move || ui::page(&viewer.shell, props)).await)
}

async fn say(
    State(state): State<AppState>,
    Id(id): Id<SessionId>,
    headers: HeaderMap,
    Posted { viewer, form }: Posted,
) -> Result<Response, PageRejection> {
    match post_message(&state, &viewer, id, &form).await {
        Ok(()) => updated_page(&state, viewer, id, &headers).await,
        Err(problem) => refused_page(&state, viewer, id, (&headers, &form, "say"), problem).await,
    }
}

/// Sends the message, or uses it as the answer to the agent's open question.
async fn post_message(state: &AppState, viewer: &Viewer, id: SessionId, form: &Form) -> Result<(), Problem> {
    let (ledger, scope) = (&state.ledger, &viewer.scope);
    let session = own(state, viewer, id).await?;
    let message = Message { text: form.text("text"), id: form.text("id").parse().ok() };
    if session.status() == Status::WaitingHuman && !message.text.trim().is_empty() {
        let gates = gate::of_sessions(ledger, scope, vec![id]).await?;
        let asks = gates.iter().any(|item| item.gate.kind == GateKind::Question);
        if asks && answer(state, viewer, id, &message).await? {
            return Ok(());
        }
    }
    match thread::say(ledger, scope, id, message.clone()).await {
        // The form of an earlier message was sent with another text, so this is another message.
        Err(Error::IdConflict { .. }) => {
            thread::say(ledger, scope, id, Message { id: None, ..message }).await?;
        }
        said => {
            said?;
        }
    }
    Ok(())
}

/// Answers the agent's question once, however often the form is sent. Returns whether it was
/// answered.
async fn answer(state: &AppState, viewer: &Viewer, id: SessionId, message: &Message) -> Result<bool, Problem> {
    let (ledger, scope) = (&state.ledger, &viewer.scope);
    let answer = || Reply::Accept(Value::from(message.text.as_str()).to_string());
    match gate::reply_as(ledger, scope, id, message.id, answer()).await {
        // The form of an earlier message or answer was sent again, perhaps with another text.
        Err(Error::IdConflict { .. }) => {
            if !thread::is_recorded(ledger, scope, id, message).await? {
                gate::reply(ledger, scope, id, answer()).await?;
            }
            Ok(true)
        }
        // Another request answered the question first. The same answer is recognised; another one is sent as a message.
        Err(Error::Refused(_)) => Ok(false),
        answered => Ok(answered.map(|_| true)?),
    }
}

async fn interrupt(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    own(&state, &viewer, id).await?;
    match thread::interrupt(&state.ledger, &viewer.scope, id).await {
        Ok(_) => updated_page(&state, viewer, id, &headers).await,
        Err(error) => refused_page(&state, viewer, id, (&headers, &form, "interrupt"), error.into()).await,
    }
}

async fn end(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    own(&state, &viewer, id).await?;
    let answer = form.optional("feedback");
    let label = answer.as_deref().map(|text| {
        Label::parse(text).ok_or_else(|| Problem::field(Code::InvalidRequest, "feedback", "positive, negative or skip"))
    });
    let feedback = match label.transpose() {
        Ok(feedback) => feedback,
        Err(problem) => return refused(&state, viewer, id, &form, "end", problem).await,
    };
    let ending = Ending { feedback, source: Surface::WebEnd, summary: true };
    match state.thread_endings.end(&viewer.scope, id, ending).await {
        Ok(_) => {
            let mut response = Redirect::to(&format!("/chat/{id}")).into_response();
            if feedback.is_none() {
                // The person was asked for a rating and ended the conversation without one.
                rating::dismiss(&state, &viewer, id, &mut response);
            }
            Ok(response)
        }
        Err(error) => refused(&state, viewer, id, &form, "end", error.into()).await,
    }
}
