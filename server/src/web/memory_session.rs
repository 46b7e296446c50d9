//! /agents/{slug}/memory/session: what one session wrote into an agent's memory, and the button that reverts it.

use super::{
    form::Form,
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, render},
};
use crate::{
    extract::{AgentSlug, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::memory::{self as ui, SessionProps};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{Redirect, Response},
    routing::get,
};
use domain::id::SessionId;
use ledger::memory::{self, RevertSession};
use serde::Deserialize;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new().route("/agents/{slug}/memory/session", get(show).post(revert))
}

#[derive(Default, Deserialize)]
struct ShowQuery {
    id: Option<String>,
}

fn parse(id: &str) -> Result<SessionId, PageRejection> {
    id.trim().parse().map_err(|_| Problem::new(Code::NotFound).into())
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    let session = parse(&query.id.unwrap_or_default())?;
    let of = RevertSession { session_id: session, reason: String::new() };
    let found = memory::preview_revert_session(&state.ledger, &viewer.scope, &agent, of).await?;
    let found = wire_map::reverted_memory_session(false, found);
    let people = people_of(ledger::page::people(&state.ledger, &viewer.scope).await?);
    let props = SessionProps { agent, session, documents: found.documents, has_more: found.has_more, people };
    Ok(render(StatusCode::OK, move || ui::session_page(&viewer.shell, props)).await)
}

async fn revert(
    State(state): State<AppState>,
    viewer: Viewer,
    AgentSlug(agent): AgentSlug,
    form: Form,
) -> Result<Redirect, PageRejection> {
    let session_id = parse(&form.text("session"))?;
    let of = RevertSession { session_id, reason: form.text("reason").trim().to_owned() };
    let reverted = memory::revert_session(&state.ledger, &viewer.scope, &agent, of).await?;
    if reverted.has_more {
        return Ok(Redirect::to(&format!("/agents/{agent}/memory/session?id={session_id}&notice=memory_reverted")));
    }
    Ok(redirect_with_notice(&format!("/agents/{agent}/memory"), "memory_reverted"))
}
