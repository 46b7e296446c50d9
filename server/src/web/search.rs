//! `GET /search?q=`: the search over all events.

use super::shell::{PageRejection, Viewer, render_or_refuse};
use crate::{extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    FieldError, FormState,
    search::{self as ui, Filter, Props},
};
use axum::{Router, extract::State, response::Response, routing::get};
use domain::session::Status;
use ledger::{
    Error,
    search::{self, SearchEvents},
};
use serde::Deserialize;

pub fn router() -> Router<AppState> {
    Router::new().route("/search", get(show))
}

/// The query. A form sends empty texts for what is not chosen.
#[derive(Default, Deserialize)]
struct ShowQuery {
    q: Option<String>,
    agent: Option<String>,
    status: Option<String>,
    cursor: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    let (filter, wanted) = read(query);
    let is_continued = wanted.cursor.is_some();
    let found =
        if filter.q.is_empty() { None } else { Some(search::events(&state.ledger, &viewer.scope, wanted).await) };
    let (props, problem) = props_of(filter, found, is_continued)?;
    Ok(render_or_refuse(problem.as_ref(), move || ui::page(&viewer.shell, props)).await)
}

/// The search of the address. What is no status is left out.
fn read(query: ShowQuery) -> (Filter, SearchEvents) {
    let given = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let status = given(query.status).and_then(|status| Status::parse(&status));
    let filter = Filter { q: given(query.q).unwrap_or_default(), agent: given(query.agent), status };
    let wanted = SearchEvents {
        query: filter.q.clone(),
        agent_slug: filter.agent.clone(),
        status,
        cursor: given(query.cursor),
        ..SearchEvents::default()
    };
    (filter, wanted)
}

/// The page with what was found, or with what is wrong with the search.
fn props_of(
    filter: Filter,
    found: Option<ledger::Result<search::FoundEvents>>,
    is_continued: bool,
) -> Result<(Props, Option<Problem>), PageRejection> {
    let props = Props { filter, is_continued, ..Props::default() };
    match found.transpose() {
        Ok(found) => Ok((Props { found: found.map(wire_map::found_events), ..props }, None)),
        Err(Error::Invalid(issues)) => {
            let error = |issue: &domain::issue::Issue| FieldError {
                field: Some(issue.field.clone()),
                message: issue.message.clone(),
            };
            let form = FormState { errors: issues.iter().map(error).collect(), ..FormState::default() };
            Ok((Props { form, ..props }, Some(Error::Invalid(issues).into())))
        }
        Err(error) => Err(error.into()),
    }
}
