//! /chat: one's own conversations with agents. Scripts ask for the live part of a conversation (`/live`). The forms
//! post
//! to server functions.

use super::{
    rating,
    sessions::connect,
    shell::{PageRejection, Viewer, render},
};
use crate::{
    extract::{Id, Params},
    state::AppState,
    wire_map,
};
use app::{
    chat::{self as ui, Conversation, Entry, Gate, ListProps, Props},
    session::Rating,
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{Html, Response},
    routing::get,
};
use domain::{gate::GateKind, id::SessionId};
use ledger::{
    ActionRecord, feedback,
    gate::MayDecide,
    page::chat as page,
    thread::{self, Summary},
};
use serde::Deserialize;
use std::collections::BTreeSet;
use wire::thread::MemoryStatus;

/// Most rows that one request reads again.
const IDS_MAX: usize = 100;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/chat", get(list))
        .route("/chat/rows", get(rows))
        .route("/chat/{id}", get(show))
        .route("/chat/{id}/live", get(live))
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
    Params(query): Params<ListQuery>,
) -> Result<Response, PageRejection> {
    let props = read_list(&state, &viewer, query).await?;
    Ok(render(StatusCode::OK, move || ui::list_page(&viewer.shell, props)).await)
}

async fn read_list(state: &AppState, viewer: &Viewer, query: ListQuery) -> Result<ListProps, PageRejection> {
    let list = page::list(&state.ledger, &viewer.scope, query.cursor.clone()).await?;
    Ok(list_props(state, viewer, query, list))
}

fn list_props(state: &AppState, viewer: &Viewer, query: ListQuery, list: page::List) -> ListProps {
    ListProps {
        entries: list.rows.into_iter().map(entry).collect(),
        next_cursor: list.next_cursor,
        is_continued: query.cursor.is_some(),
        with: conversation_partners(state, viewer, list.actions),
        chosen: query.agent,
        connect: connect(viewer),
        form: viewer.form.clone(),
    }
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
    Params(query): Params<RowsQuery>,
) -> Result<Html<String>, PageRejection> {
    let ids: Vec<SessionId> = query.ids.split(',').take(IDS_MAX).filter_map(|id| id.parse().ok()).collect();
    let rows = page::by_ids(&state.ledger, &viewer.scope, ids).await?;
    let entries: Vec<_> = rows.into_iter().map(entry).collect();
    Ok(Html(ui::rows_fragment(&entries)))
}

#[derive(Default, Deserialize)]
struct PageQuery {
    before: Option<u64>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Result<Response, PageRejection> {
    let talk = read(&state, &viewer, id, query.before).await?;
    let props = Props { conversation: talk, form: viewer.form.clone() };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn live(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Result<Html<String>, PageRejection> {
    let talk = read(&state, &viewer, id, query.before).await?;
    Ok(Html(ui::fragment(&talk)))
}

async fn read(
    state: &AppState,
    viewer: &Viewer,
    id: SessionId,
    before: Option<u64>,
) -> Result<Conversation, PageRejection> {
    let found = page::read(&state.ledger, &viewer.scope, id, before, Conversation::kinds()).await?;
    let memory = memory_status(state, viewer, &found).await;
    let rating = rating::of(state, viewer, &found.session).await;
    Ok(Conversation { before, memory, rating, ..conversation(found) })
}

/// The stored records of the conversation. If that cannot be read, the page is shown without it.
async fn memory_status(state: &AppState, viewer: &Viewer, found: &page::Conversation) -> Option<MemoryStatus> {
    match feedback::status_of(&state.ledger, &viewer.scope, &found.session, found.turns).await {
        Ok(status) => Some(wire_map::memory_status(&status)),
        Err(error) => {
            tracing::warn!(%error, "a conversation is shown without what is kept of it");
            None
        }
    }
}

/// Converts the newest part of a conversation.
fn conversation(found: page::Conversation) -> Conversation {
    Conversation {
        others: found.others.into_iter().map(other).collect(),
        resend_id: thread::resend_id(&found.session).to_string(),
        events: found.slice.events.into_iter().map(wire_map::event).collect(),
        has_earlier: found.slice.has_more,
        before: None,
        summary: Summary::of(&found.session).map(wire_map::thread_summary),
        gate: found.gate.map(|item| Gate {
            id: item.gate.id.to_string(),
            is_question: item.gate.kind == GateKind::Question,
            may_decide: item.may_decide == MayDecide::Yes,
        }),
        memory: None,
        rating: Rating::default(),
        thread: wire_map::thread(found.session, None),
    }
}

/// Returns the display name of another person or program that answered.
fn other((actor, name): (String, Option<String>)) -> (String, String) {
    let unnamed = if actor.starts_with("user:") { "A former member" } else { "A program" };
    let name = name.unwrap_or_else(|| unnamed.to_owned());
    (actor, name)
}
