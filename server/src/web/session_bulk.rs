//! /sessions/bulk: the same done to several sessions, after a preview.

use super::{
    bulk_address::{BulkAddress, BulkQuery},
    form::Form,
    paced_run::{pace_choice, run_at_pace},
    sessions::{Filtered, ListQuery},
    shell::{PageRejection, Viewer, local_path, refuse, render},
};
use crate::{extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    paced_run::PaceChoice,
    sessions::{self as ui, BulkProps},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
    routing::post,
};
use domain::{id::SessionId, session::BulkVerb};
use form_urlencoded::byte_serialize;
use ledger::{
    Error,
    bulk::{self as use_case, BulkRequest, BulkSelection},
    session::BulkResult,
};
use serde::Deserialize;
use wire::session_bulk::BulkSessionsResult;

/// The list of sessions, for an address that names no other.
const LIST: &str = "/sessions";

pub fn router() -> Router<AppState> {
    Router::new().route("/sessions/bulk", post(change).get(result))
}

/// The answer to the form.
enum Answer {
    /// What would happen.
    Preview(BulkProps),
    /// Where the page with what happened is.
    Address(String),
}

async fn change(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    match answer(&state, &viewer, &form).await {
        Ok(Answer::Preview(props)) => Ok(render(StatusCode::OK, move || ui::bulk_page(&viewer.shell, props)).await),
        Ok(Answer::Address(address)) => Ok(Redirect::to(&address).into_response()),
        Err(error @ Error::Invalid(_)) => Ok(refusal(viewer, &form, error).await),
        Err(error) => Err(error.into()),
    }
}

/// Does what the form asks for, at the pace that it chooses, or says what would happen.
async fn answer(state: &AppState, viewer: &Viewer, form: &Form) -> Result<Answer, Error> {
    let (request, next) = (request_of(viewer, form)?, list_of(form.optional("next")));
    if request.preview {
        return preview(state, viewer, request, next).await;
    }
    match run_at_pace(state, viewer, form, with_a_pace(&request)).await? {
        Some(address) => Ok(Answer::Address(address)),
        None => run_now(state, viewer, request, &next).await,
    }
}

/// The sessions that can be run again at a pace.
fn with_a_pace(request: &BulkRequest) -> Option<&[SessionId]> {
    match (request.verb, &request.selection) {
        (BulkVerb::RunAgain, BulkSelection::Chosen(ids)) => Some(ids),
        _ => None,
    }
}

async fn preview(state: &AppState, viewer: &Viewer, request: BulkRequest, next: String) -> Result<Answer, Error> {
    let (verb, pace) = (request.verb, pace_choice(viewer, state.ledger.now()));
    let result = wire_map::bulk_result(use_case::run(&state.ledger, &viewer.scope, request).await?);
    let form = FormState::default();
    Ok(Answer::Preview(BulkProps { verb, result, is_preview: true, next, form, pace }))
}

async fn run_now(state: &AppState, viewer: &Viewer, request: BulkRequest, next: &str) -> Result<Answer, Error> {
    let (verb, at) = (request.verb, state.ledger.now());
    let result = use_case::run(&state.ledger, &viewer.scope, request).await?;
    Ok(Answer::Address(address(verb, &BulkAddress::of(&result, at), next)))
}

/// The request of the form: about the selected sessions, or about all that its filter selects.
fn request_of(viewer: &Viewer, form: &Form) -> Result<BulkRequest, Error> {
    let verb = BulkVerb::parse(&form.text("verb"));
    let verb = verb.ok_or_else(|| Error::invalid("verb", "run_again, cancel or acknowledge"))?;
    let selection = if form.has("all") { listed(viewer, form)? } else { chosen(form)? };
    Ok(BulkRequest { verb, selection, preview: form.text("step") != "run" })
}

/// All sessions that the filter of the list selects.
fn listed(viewer: &Viewer, form: &Form) -> Result<BulkSelection, Error> {
    let filtered = Filtered::of(ListQuery::of_form(form), viewer);
    let Filtered { wanted, form: line, .. } = filtered.map_err(|_| Error::NotFound("task"))?;
    match line.error("q") {
        Some(why) => Err(Error::invalid("q", why)),
        None => Ok(BulkSelection::Listed(Box::new(wanted))),
    }
}

/// The sessions whose check boxes are ticked.
fn chosen(form: &Form) -> Result<BulkSelection, Error> {
    let text = form.text("session");
    let ids: Result<Vec<SessionId>, _> = text.lines().map(str::parse::<SessionId>).collect();
    let ids = ids.map_err(|error| Error::invalid("session", error.to_string()))?;
    if ids.is_empty() {
        return Err(Error::invalid("session", "Select at least one session."));
    }
    Ok(BulkSelection::Chosen(ids))
}

/// The list in which the sessions were selected: an address of this server.
fn list_of(next: Option<String>) -> String {
    local_path(next.as_deref().or(Some(LIST))).to_owned()
}

/// The address of the page that shows what happened.
fn address(verb: BulkVerb, happened: &BulkAddress, next: &str) -> String {
    let next: String = byte_serialize(next.as_bytes()).collect();
    format!("/sessions/bulk?verb={verb}&{}&next={next}", happened.query())
}

/// The page that says why nothing was done.
async fn refusal(viewer: Viewer, form: &Form, error: Error) -> Response {
    let problem = Problem::from(error);
    let props = BulkProps {
        verb: BulkVerb::parse(&form.text("verb")).unwrap_or(BulkVerb::RunAgain),
        result: BulkSessionsResult::default(),
        is_preview: true,
        next: list_of(form.optional("next")),
        form: form.refused("", &problem),
        pace: PaceChoice::default(),
    };
    refuse(&problem, move || ui::bulk_page(&viewer.shell, props)).await
}

#[derive(Deserialize)]
struct ResultQuery {
    verb: Option<String>,
    next: Option<String>,
    #[serde(flatten)]
    happened: BulkQuery,
}

/// What happened. An address that names no session leads to the list.
async fn result(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ResultQuery>,
) -> Result<Response, PageRejection> {
    let verb = query.verb.as_deref().and_then(BulkVerb::parse);
    let (Some(verb), Some(happened)) = (verb, BulkAddress::read(&query.happened)) else {
        return Ok(Redirect::to(LIST).into_response());
    };
    let selection = BulkSelection::Chosen(happened.sessions.clone());
    let repeat = BulkRequest { verb, selection, preview: true };
    let repeat = use_case::run(&state.ledger, &viewer.scope, repeat).await?;
    let props = props(verb, &happened, repeat, query.next);
    Ok(render(StatusCode::OK, move || ui::bulk_page(&viewer.shell, props)).await)
}

/// What happened, from what a repeat would do.
fn props(verb: BulkVerb, happened: &BulkAddress, repeat: BulkResult, next: Option<String>) -> BulkProps {
    let result = wire_map::bulk_result(happened.outcomes(repeat));
    let BulkAddress { done, already, refused, .. } = *happened;
    let result = BulkSessionsResult { ready: 0, done, already, refused, ..result };
    let (form, pace) = (FormState::default(), PaceChoice::default());
    BulkProps { verb, result, is_preview: false, next: list_of(next), form, pace }
}
