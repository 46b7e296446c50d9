//! /sessions/{id}/memories: the memories that the agent was given in a session, and ratings of them by people.

use super::{
    form::Form,
    shell::{PageRejection, Viewer, local_path, render, render_or_refuse},
};
use crate::{
    extract::{Id, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::session_memory::{self as ui, Props};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};
use domain::{id::SessionId, relevance::Ratings};
use ledger::{Error, page::session_memory as page, relevance};
use serde::Deserialize;
use serde_json::json;

pub fn router() -> Router<AppState> {
    Router::new().route("/sessions/{id}/memories", get(show).post(rate))
}

#[derive(Default, Deserialize)]
struct PageQuery {
    cursor: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer, id, query.cursor).await?;
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}

async fn read(state: &AppState, viewer: &Viewer, id: SessionId, cursor: Option<String>) -> Result<Props, Error> {
    let is_newest = cursor.is_none();
    Ok(props(page::read(&state.ledger, &viewer.scope, id, cursor).await?, is_newest))
}

fn props(found: page::Page, is_newest: bool) -> Props {
    let injected = found.listed.items.into_iter().filter(|(memory, _)| memory.injected);
    Props {
        memories: injected.map(|(memory, text)| (wire_map::session_memory(memory), text)).collect(),
        session: wire_map::session(found.session),
        may_rate: found.may_rate,
        is_newest,
        next_cursor: found.listed.next_cursor,
        refusals: Vec::new(),
    }
}

/// Rates one memory, and returns to `next`, or to the page of the memories.
async fn rate(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    match rated(&state, &viewer, id, &form).await {
        Ok(()) => Ok(Redirect::to(&next_of(&form, id)).into_response()),
        Err(error) => {
            let problem = Problem::from(error);
            let props = Props { refusals: problem.lines(), ..read(&state, &viewer, id, None).await? };
            Ok(render_or_refuse(Some(&problem), move || ui::page(&viewer.shell, props)).await)
        }
    }
}

/// The page to which the form returns.
fn next_of(form: &Form, id: SessionId) -> String {
    let next = form.optional("next").unwrap_or_else(|| format!("/sessions/{id}/memories"));
    local_path(Some(next.as_str())).to_owned()
}

async fn rated(state: &AppState, viewer: &Viewer, id: SessionId, form: &Form) -> Result<(), Error> {
    let value = form.text("value").parse::<i32>().map_err(|_| Error::invalid("value", "1 or -1"))?;
    let ratings = json!({ form.text("memory"): value }).to_string();
    let ratings = Ratings::read(&ratings).unwrap_or_default();
    let report = relevance::rate(&state.ledger, &viewer.scope, id, None, ratings).await?;
    let why = |reason: &str| Error::invalid("memory", format!("this rating does not count: {reason}"));
    report.refused.first().map_or(Ok(()), |refused| Err(why(refused.reason.as_str())))
}
