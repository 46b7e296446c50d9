//! `GET /search?q=`: the search over events, tasks, entities, questions and memory.

use super::{
    search_line::{non_empty, read_line, refused_line},
    shell::{PageRejection, Viewer, render_or_refuse},
};
use crate::{extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    search::{self as ui, Filter, Props},
};
use axum::{Router, extract::State, response::Response, routing::get};
use domain::{
    search::{Kind, Line, Test},
    session::Status,
    tool::run::is_agent,
};
use ledger::{
    Error,
    search::{self, SearchEvents},
};
use serde::Deserialize;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new().route("/search", get(show))
}

/// The query. A form sends empty texts for what is not chosen.
#[derive(Default, Deserialize)]
struct ShowQuery {
    q: Option<String>,
    kind: Option<String>,
    agent: Option<String>,
    status: Option<String>,
    cursor: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    let (props, wanted) = read(&query, &viewer.timezone);
    let found = match wanted {
        Some(wanted) => Some(search::events(&state.ledger, &viewer.scope, wanted).await),
        None => None,
    };
    let agents = search::agents(&state.ledger, &viewer.scope).await?;
    let props = with_found(Props { agents, ..props }, found)?;
    let problem = props.form.is_refused().then(|| Problem::new(Code::InvalidRequest));
    Ok(render_or_refuse(problem.as_ref(), move || ui::page(&viewer.shell, props)).await)
}

/// The page without what was found, and the search; none for an empty line and one that was refused.
fn read(query: &ShowQuery, timezone: &str) -> (Props, Option<SearchEvents>) {
    let cursor = non_empty(query.cursor.as_ref()).map(str::to_owned);
    let (line, form) = line(query);
    let (is_continued, text) = (cursor.is_some(), line.to_string());
    let kind = kind(query, &line, is_continued);
    // Conditions alone select sessions: the page leads to their list.
    let wanted = (!line.words.is_empty() && !form.is_refused()).then(|| SearchEvents {
        query: text,
        kind,
        timezone: Some(timezone.to_owned()),
        cursor,
        ..SearchEvents::default()
    });
    (Props { filter: Filter { line, kind }, form, is_continued, ..Props::default() }, wanted)
}

/// The kind of the address. What is no kind is left out, and so is a kind of record with conditions or a cursor, which
/// only events have.
fn kind(query: &ShowQuery, line: &Line, is_continued: bool) -> Option<Kind> {
    let kind = non_empty(query.kind.as_ref()).and_then(Kind::parse)?;
    let is_possible = kind == Kind::Event || (line.conditions.is_empty() && !is_continued);
    is_possible.then_some(kind)
}

/// The line of the address, with the conditions that addresses name in fields of their own, and what is wrong with it.
/// What is no status and no agent is left out.
fn line(query: &ShowQuery) -> (Line, FormState) {
    let (mut line, form) = read_line(non_empty(query.q.as_ref()).unwrap_or_default());
    if let Some(status) = non_empty(query.status.as_ref()).and_then(Status::parse) {
        line.widen(Test::Status(vec![status]));
    }
    if let Some(agent) = non_empty(query.agent.as_ref()).filter(|agent| is_agent(agent)) {
        line.widen(Test::Agent(vec![agent.to_owned()]));
    }
    (line, form)
}

/// The page with what was found, or with what is wrong with the search.
fn with_found(props: Props, found: Option<ledger::Result<search::FoundEvents>>) -> Result<Props, PageRejection> {
    match found.transpose() {
        Ok(found) => Ok(Props { found: found.map(wire_map::found_events), ..props }),
        Err(Error::Invalid(issues)) => {
            let form = refused_line(&props.filter.line.to_string(), &issues);
            Ok(Props { form, ..props })
        }
        Err(error) => Err(error.into()),
    }
}
