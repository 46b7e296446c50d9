//! /sessions/bulk: the same done to several sessions, after a preview.

use super::{
    bulk_address::{BulkAddress, BulkQuery},
    bulk_choice::{Label, LabelQuery, Labels, change_of, choice, ticked},
    bulk_part::{part, progress},
    form::Form,
    paced_run::{pace_choice, run_at_pace},
    sessions::{Filtered, ListQuery},
    shell::{PageRejection, Viewer, local_path, refuse, render},
};
use crate::{extract::Params, problem::Problem, state::AppState, wire_map};
use app::{
    FormState,
    paced_run::PaceChoice,
    sessions::{self as ui, BulkProgressProps, BulkProps, ChoiceProps},
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
    bulk::{self as use_case, BulkChange, BulkRequest, BulkSelection},
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
    /// Which tag, or which member.
    Choice(ChoiceProps),
    /// What would happen.
    Preview(BulkProps),
    /// How far it is.
    Progress(BulkProgressProps),
    /// Where the page with what happened is.
    Address(String),
}

async fn change(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    match answer(&state, &viewer, &form).await {
        Ok(Answer::Choice(props)) => Ok(choose(StatusCode::OK, viewer, props).await),
        Ok(Answer::Preview(props)) => Ok(render(StatusCode::OK, move || ui::bulk_page(&viewer.shell, props)).await),
        Ok(Answer::Progress(props)) => Ok(between(viewer, props).await),
        Ok(Answer::Address(address)) => Ok(Redirect::to(&address).into_response()),
        Err(error @ Error::Invalid(_)) => refusal(&state, viewer, &form, error).await,
        Err(error) => Err(error.into()),
    }
}

/// Does what the form asks for, or asks for the tag or the member that it leaves out.
async fn answer(state: &AppState, viewer: &Viewer, form: &Form) -> Result<Answer, Error> {
    let verb = verb_of(form)?;
    if let Some(change) = change_of(verb, form)? {
        return do_or_preview(state, viewer, form, change).await;
    }
    // A selection that the preview would refuse is refused before anything is typed.
    selection_of(viewer, form)?;
    Ok(Answer::Choice(choice(state, viewer, (verb, form), list_of(form.optional("next"))).await?))
}

/// Does a change, at the pace that the form chooses, or says what would happen.
async fn do_or_preview(state: &AppState, viewer: &Viewer, form: &Form, change: BulkChange) -> Result<Answer, Error> {
    let next = list_of(form.optional("next"));
    let request = BulkRequest { change, selection: selection_of(viewer, form)?, preview: form.text("step") != "run" };
    if request.preview {
        return preview(state, viewer, request, next).await;
    }
    match run_at_pace(state, viewer, form, with_a_pace(&request)).await? {
        Some(address) => Ok(Answer::Address(address)),
        None => run_now(state, viewer, (form, request), &next).await,
    }
}

/// The sessions that can be run again at a pace.
fn with_a_pace(request: &BulkRequest) -> Option<&[SessionId]> {
    match (&request.change, &request.selection) {
        (BulkChange::RunAgain, BulkSelection::Chosen(ids)) => Some(ids),
        _ => None,
    }
}

async fn preview(state: &AppState, viewer: &Viewer, request: BulkRequest, next: String) -> Result<Answer, Error> {
    let (change, pace) = (request.change.clone(), pace_choice(viewer, state.ledger.now()));
    let planned = use_case::run(&state.ledger, &viewer.scope, request).await?;
    let Labels { word, fields, undo } = Label::of(&change).labels(state, viewer).await?;
    let (verb, result, form) = (change.verb(), wire_map::bulk_result(planned), FormState::default());
    Ok(Answer::Preview(BulkProps { verb, word, fields, undo, result, is_preview: true, next, form, pace }))
}

/// Does the change, or a part of it. What earlier parts did is in the form.
async fn run_now(
    state: &AppState,
    viewer: &Viewer,
    (form, request): (&Form, BulkRequest),
    next: &str,
) -> Result<Answer, Error> {
    let (label, earlier) = (Label::of(&request.change), BulkAddress::of_form(form));
    let at = earlier.as_ref().map_or_else(|| state.ledger.now(), |earlier| earlier.at);
    let (request, rest) = part(request, earlier.is_some());
    let now = BulkAddress::of(&use_case::run(&state.ledger, &viewer.scope, request).await?, at);
    let happened = match earlier {
        Some(earlier) => earlier.and(now),
        None => now,
    };
    Ok(after(state, form, &label, &happened, &rest, next))
}

/// What follows a part: the next one, or the page of what happened.
fn after(
    state: &AppState,
    form: &Form,
    label: &Label,
    happened: &BulkAddress,
    rest: &[SessionId],
    next: &str,
) -> Answer {
    let address = address(label, happened, next);
    if rest.is_empty() {
        return Answer::Address(address);
    }
    let script = state.assets.path("form-js").unwrap_or_default();
    Answer::Progress(progress(form, &label.query(), (happened, rest), (address, script)))
}

fn verb_of(form: &Form) -> Result<BulkVerb, Error> {
    let verbs = || BulkVerb::ALL.map(BulkVerb::as_str).join(", ");
    BulkVerb::parse(&form.text("verb")).ok_or_else(|| Error::invalid("verb", format!("one of {}", verbs())))
}

/// The selected sessions, or all that the filter of the form selects.
fn selection_of(viewer: &Viewer, form: &Form) -> Result<BulkSelection, Error> {
    if form.has("all") { listed(viewer, form) } else { chosen(form) }
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
    let ids: Result<Vec<SessionId>, _> = ticked(form).iter().map(|id| id.parse::<SessionId>()).collect();
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
fn address(label: &Label, happened: &BulkAddress, next: &str) -> String {
    let next: String = byte_serialize(next.as_bytes()).collect();
    format!("/sessions/bulk?{}&{}&next={next}", label.query(), happened.query())
}

async fn between(viewer: Viewer, props: BulkProgressProps) -> Response {
    render(StatusCode::OK, move || ui::bulk_progress_page(&viewer.shell, &props)).await
}

async fn choose(status: StatusCode, viewer: Viewer, props: ChoiceProps) -> Response {
    render(status, move || ui::bulk_choice_page(&viewer.shell, props)).await
}

/// The page that says why nothing was done: the choice of a tag or a member, if that was refused.
async fn refusal(state: &AppState, viewer: Viewer, form: &Form, error: Error) -> Result<Response, PageRejection> {
    let is_choice = matches!(&error, Error::Invalid(issues) if issues.iter().any(|issue| is_chosen(&issue.field)));
    let problem = Problem::from(error);
    if let (true, Ok(verb)) = (is_choice, verb_of(form)) {
        let next = list_of(form.optional("next"));
        let props = choice(state, &viewer, (verb, form), next).await?;
        let props = ChoiceProps { form: form.refused("", &problem), ..props };
        return Ok(refuse(&problem, move || ui::bulk_choice_page(&viewer.shell, props)).await);
    }
    let props = refused_props(form, &problem);
    Ok(refuse(&problem, move || ui::bulk_page(&viewer.shell, props)).await)
}

/// Whether a field is chosen on a page of its own.
fn is_chosen(field: &str) -> bool {
    ["tag", "userId"].contains(&field)
}

fn refused_props(form: &Form, problem: &Problem) -> BulkProps {
    BulkProps {
        verb: BulkVerb::parse(&form.text("verb")).unwrap_or(BulkVerb::RunAgain),
        word: String::new(),
        fields: Vec::new(),
        undo: None,
        result: BulkSessionsResult::default(),
        is_preview: true,
        next: list_of(form.optional("next")),
        form: form.refused("", problem),
        pace: PaceChoice::default(),
    }
}

#[derive(Deserialize)]
struct ResultQuery {
    next: Option<String>,
    #[serde(flatten)]
    label: LabelQuery,
    #[serde(flatten)]
    happened: BulkQuery,
}

/// What happened. An address that names no session leads to the list.
async fn result(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<ResultQuery>,
) -> Result<Response, PageRejection> {
    let (Some(label), Some(happened)) = (Label::read(&query.label), BulkAddress::read(&query.happened)) else {
        return Ok(Redirect::to(LIST).into_response());
    };
    let props = props(&state, &viewer, (&label, &happened), query.next).await?;
    Ok(render(StatusCode::OK, move || ui::bulk_page(&viewer.shell, props)).await)
}

/// What happened, from what a repeat would do.
async fn props(
    state: &AppState,
    viewer: &Viewer,
    (label, happened): (&Label, &BulkAddress),
    next: Option<String>,
) -> Result<BulkProps, Error> {
    let selection = BulkSelection::Chosen(happened.sessions.clone());
    let repeat = BulkRequest { change: label.change.clone(), selection, preview: true };
    let repeat: BulkResult = use_case::run(&state.ledger, &viewer.scope, repeat).await?;
    let Labels { word, fields, undo } = label.labels(state, viewer).await?;
    let result = wire_map::bulk_result(happened.outcomes(repeat));
    let BulkAddress { done, already, refused, .. } = *happened;
    let result = BulkSessionsResult { ready: 0, done, already, refused, ..result };
    let (verb, next) = (label.change.verb(), list_of(next));
    let (form, pace) = (FormState::default(), PaceChoice::default());
    Ok(BulkProps { verb, word, fields, undo, result, is_preview: false, next, form, pace })
}
