//! /failures: causes of failures, decisions about them, and running their sessions again.

use super::{
    bulk_address::{BulkAddress, BulkQuery},
    form::Form,
    paced_run::{pace_choice, run_at_pace},
    search_line::{list_line, non_empty},
    shell::{PageRejection, Viewer, local_path, redirect_to, refuse, render},
};
use crate::{
    extract::{Id, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use app::{
    FormState,
    failure::{self as ui, AgainProps, CauseProps, CauseRow, CausesAgainProps, Filter, ListProps},
    paced_run::PaceChoice,
};
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    failure::cause::{CauseState, Window},
    id::{CauseId, SessionId},
    limit::{BULK_CAUSES_MAX, BULK_NAMED_MAX},
    search::Field,
};
use ledger::{
    Error, ListPage, Timestamp,
    failure::cause::{
        self as use_case, CauseAgain, CauseDecision, CausesAgain, DecidedCauses, ListCauses, RunAgain, When,
        WhichSessions,
    },
    page::failure as page,
    session::{BulkOutcome, BulkResult},
    work_queue::SnoozeChoice,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use uuid::Uuid;
use wire::failure_cause::CauseRunAgain;

/// The refusal of a form without causes.
const NO_CAUSE: &str = "Select at least one cause.";
/// Number of rows on a page.
const ROWS: u32 = 50;
/// Length of an id in an address.
const ID_BYTES: usize = 16;
/// The decision that only shows what running failures again would do.
const RUN_AGAIN: &str = "run_again";
/// Value of `?state=` for all states.
const ALL: &str = "all";

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/failures", get(list))
        .route("/failures/decisions", post(decide_many))
        .route("/failures/{id}", get(show))
        .route("/failures/{id}/decision", post(decide))
        .route("/failures/{id}/run-again", post(run_again).get(ran))
}

/// The query of the pages. What cannot be read is ignored.
#[derive(Debug, Default, Deserialize)]
struct Query {
    window: Option<String>,
    state: Option<String>,
    q: Option<String>,
    cursor: Option<String>,
    at: Option<String>,
    undo: Option<String>,
}

impl Query {
    fn window(&self) -> Window {
        self.window.as_deref().and_then(Window::parse).unwrap_or_default()
    }

    /// The cause whose row has the focus, and those that were just decided about.
    fn places(&self) -> (Option<CauseId>, Vec<CauseId>) {
        let at = self.at.as_deref().and_then(|at| at.parse().ok());
        (at, self.undo.as_deref().map(undone_by).unwrap_or_default())
    }

    fn filter(&self) -> Filter {
        let state = match self.state.as_deref() {
            Some(ALL) => None,
            state => Some(state.and_then(CauseState::parse).unwrap_or(CauseState::Open)),
        };
        Filter { window: self.window(), state, q: non_empty(self.q.as_ref()).unwrap_or_default().to_owned() }
    }
}

/// A time range by its name, for the viewer.
fn when(viewer: &Viewer, window: Window) -> When {
    When { timezone: viewer.timezone.clone(), ..When::window(window) }
}

async fn list(
    State(state): State<AppState>,
    viewer: Viewer,
    Params(query): Params<Query>,
    headers: HeaderMap,
) -> Result<Response, PageRejection> {
    let props = read_list(&state, &viewer, query).await?;
    see(&state, &viewer, &headers).await?;
    let status = if props.search.is_refused() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(render(status, move || ui::list_page(&viewer.shell, props)).await)
}

/// Records that the viewer looks, unless the browser only fetches the page in advance.
async fn see(state: &AppState, viewer: &Viewer, headers: &HeaderMap) -> Result<(), Error> {
    let purpose = headers.get("sec-purpose").and_then(|purpose| purpose.to_str().ok()).unwrap_or_default();
    if purpose.contains("prefetch") { Ok(()) } else { use_case::visit(&state.ledger, &viewer.scope).await }
}

async fn read_list(state: &AppState, viewer: &Viewer, query: Query) -> Result<ListProps, Error> {
    let (filter, cursor) = (query.filter(), query.cursor.clone());
    let (at, undo) = query.places();
    let when = when(viewer, filter.window);
    let (line, search) = list_line(&filter.q, &Field::OF_CAUSES);
    let wanted = ListCauses { when, state: filter.state, line, limit: ROWS, cursor: query.cursor };
    let found = page::list(&state.ledger, &viewer.scope, wanted).await?;
    let list = wire_map::failure_causes(found.list, found.progress);
    let (causes, since, next_cursor) = (list.items, list.since, list.next_cursor);
    let (grouped_percent, form) = (list.grouped_percent, FormState::default());
    Ok(ListProps { filter, causes, since, grouped_percent, next_cursor, cursor, at, undo, form, search })
}

async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<CauseId>,
    Params(query): Params<Query>,
) -> Result<Response, PageRejection> {
    let props = read(&state, &viewer, id, &query).await?;
    Ok(render(StatusCode::OK, move || ui::cause_page(&viewer.shell, props)).await)
}

async fn read(state: &AppState, viewer: &Viewer, id: CauseId, query: &Query) -> Result<CauseProps, Error> {
    let sessions = ListPage { limit: ROWS, cursor: query.cursor.clone() };
    let when = when(viewer, query.window());
    Ok(props(page::cause(&state.ledger, &viewer.scope, id, when, sessions).await?, query))
}

/// Converts what was read.
fn props(found: page::CausePage, query: &Query) -> CauseProps {
    CauseProps {
        cause: wire_map::failure_cause(found.cause),
        window: query.window(),
        since: found.span.since,
        until: found.span.until,
        sessions: found.sessions.items.into_iter().map(wire_map::caused_failure).collect(),
        next_cursor: found.sessions.next_cursor,
        is_continued: query.cursor.is_some(),
        form: FormState::default(),
    }
}

async fn decide(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<CauseId>,
    form: Form,
) -> Result<Response, PageRejection> {
    match decided(&state, &viewer, id, &form).await {
        Ok(notice) => Ok(redirect_to(&undoable(&form, &[id]), notice).into_response()),
        Err(error @ Error::Invalid(_)) => refused(&state, viewer, id, (&form, "snooze"), error).await,
        Err(error) => Err(error.into()),
    }
}

/// Does what the form decides. Returns the notice that says so.
async fn decided(state: &AppState, viewer: &Viewer, id: CauseId, form: &Form) -> Result<&'static str, Error> {
    let (ledger, scope) = (&state.ledger, &viewer.scope);
    let (_, notice) = match form.text("decision").as_str() {
        "acknowledge" => (use_case::acknowledge(ledger, scope, id).await?, "cause_seen"),
        "resolve" => (use_case::resolve(ledger, scope, id).await?, "cause_resolved"),
        "reopen" => (use_case::reopen(ledger, scope, id).await?, "cause_reopened"),
        "snooze" => (snooze(state, viewer, id, form).await?, "cause_snoozed"),
        _ => return Err(Error::invalid("decision", "acknowledge, snooze, resolve or reopen")),
    };
    Ok(notice)
}

async fn snooze(state: &AppState, viewer: &Viewer, id: CauseId, form: &Form) -> Result<use_case::Cause, Error> {
    let until = until(form, viewer, state.ledger.now())?;
    let snoozed = use_case::snooze(&state.ledger, &viewer.scope, id, until).await;
    snoozed.map_err(|error| at_day(form, error))
}

/// The end of the snooze that the form names.
fn until(form: &Form, viewer: &Viewer, now: Timestamp) -> Result<Timestamp, Error> {
    let choice = match form.text("until").as_str() {
        "tomorrow" => SnoozeChoice::Tomorrow,
        "monday" => SnoozeChoice::Monday,
        "day" => {
            let day = form.text("day").trim().parse();
            SnoozeChoice::Day(day.map_err(|_| Error::invalid("day", "enter a day that exists, such as 2026-01-31"))?)
        }
        _ => SnoozeChoice::Later,
    };
    choice.until(&viewer.timezone, now)
}

/// What is wrong with the end of a snooze is wrong with the day, if that was chosen.
fn at_day(form: &Form, error: Error) -> Error {
    match error {
        Error::Invalid(issues) if form.text("until") == "day" => Error::Invalid(
            issues.into_iter().map(|issue| domain::issue::Issue { field: "day".to_owned(), ..issue }).collect(),
        ),
        error => error,
    }
}

/// The page of the cause with what is wrong with a form.
async fn refused(
    state: &AppState,
    viewer: Viewer,
    id: CauseId,
    (form, name): (&Form, &str),
    error: Error,
) -> Result<Response, PageRejection> {
    let problem = Problem::from(error);
    let query = Query { window: form.optional("window"), ..Query::default() };
    let mut props = read(state, &viewer, id, &query).await?;
    props.form = form.refused(name, &problem);
    Ok(refuse(&problem, move || ui::cause_page(&viewer.shell, props)).await)
}

/// The answer to the form of the selected causes.
enum ListAnswer {
    /// What running their failures again would do.
    Preview(CausesAgainProps),
    /// The causes that were decided about, and the notice that says so.
    Decided(Vec<CauseId>, &'static str),
}

/// Decides the same about the selected causes, or says what running their failures again would do.
async fn decide_many(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    match list_answer(&state, &viewer, &form).await {
        Ok(ListAnswer::Preview(props)) => Ok(preview_of_causes(viewer, props).await),
        Ok(ListAnswer::Decided(causes, notice)) => Ok(redirect_to(&undoable(&form, &causes), notice).into_response()),
        Err(error @ Error::Invalid(_)) => refused_list(&state, viewer, &form, error).await,
        Err(error) => Err(error.into()),
    }
}

async fn list_answer(state: &AppState, viewer: &Viewer, form: &Form) -> Result<ListAnswer, Error> {
    if form.text("decision") == RUN_AGAIN {
        return causes_again(state, viewer, form).await.map(ListAnswer::Preview);
    }
    let (causes, notice) = decided_many(state, viewer, form).await?;
    Ok(ListAnswer::Decided(causes, notice))
}

async fn preview_of_causes(viewer: Viewer, props: CausesAgainProps) -> Response {
    render(StatusCode::OK, move || ui::causes_again_page(&viewer.shell, props)).await
}

/// What running the failures of the selected causes again would do, in the time range of the list. Sessions that fail
/// later are not counted, and not run.
async fn causes_again(state: &AppState, viewer: &Viewer, form: &Form) -> Result<CausesAgainProps, Error> {
    let ids = if form.has("all") { listed(state, viewer, form).await? } else { causes_of(form)? };
    let window = Query { window: form.optional("window"), ..Query::default() }.window();
    let planned = use_case::plan_again(&state.ledger, &viewer.scope, ids, when(viewer, window)).await?;
    let next = local_path(form.optional("next").as_deref()).to_owned();
    Ok(again_props(planned, window, next, pace_choice(viewer, state.ledger.now())))
}

/// Converts what was planned.
fn again_props(planned: CausesAgain, window: Window, next: String, pace: PaceChoice) -> CausesAgainProps {
    let (mut sessions, mut refusals) = (Vec::new(), BTreeMap::<String, u64>::new());
    for session in planned.causes.iter().flat_map(|cause| &cause.result.sessions) {
        match &session.outcome {
            BulkOutcome::Ready => sessions.push(session.id),
            BulkOutcome::Refused(reason) => *refusals.entry(reason.clone()).or_default() += 1,
            // A plan does nothing, and it leaves out what was run again before.
            BulkOutcome::Done(_) | BulkOutcome::Already(_) => {}
        }
    }
    let causes = planned.causes.into_iter().map(cause_row).collect();
    CausesAgainProps { window, causes, missing: planned.missing as u64, sessions, refusals, next, pace }
}

fn cause_row(cause: CauseAgain) -> CauseRow {
    let CauseAgain { id, code, message, result } = cause;
    let ready = result.count(|outcome| *outcome == BulkOutcome::Ready) as u64;
    let refused = result.count(|outcome| matches!(outcome, BulkOutcome::Refused(_))) as u64;
    CauseRow { id, code, message, ready, refused, has_more: result.has_more }
}

/// Does what the form decides. Returns the causes and the notice that says so.
async fn decided_many(state: &AppState, viewer: &Viewer, form: &Form) -> Result<(Vec<CauseId>, &'static str), Error> {
    let decision = decision_of(form, viewer, state.ledger.now())?;
    let ids = if form.has("all") { listed(state, viewer, form).await? } else { causes_of(form)? };
    let result = use_case::decide_many(&state.ledger, &viewer.scope, ids.clone(), decision).await;
    let DecidedCauses { missing, .. } = result.map_err(|error| at_day(form, error))?;
    Ok((ids, if missing == 0 { "causes_decided" } else { "causes_missing" }))
}

/// The causes of the list that the form was on: those with the newest failure, as many as one request decides about.
async fn listed(state: &AppState, viewer: &Viewer, form: &Form) -> Result<Vec<CauseId>, Error> {
    let (window, wanted, q) = (form.optional("window"), form.optional("state"), form.optional("q"));
    let Filter { window, state: wanted, q } = Query { window, state: wanted, q, ..Query::default() }.filter();
    let limit = u32::try_from(BULK_CAUSES_MAX).unwrap_or(ROWS);
    let wanted = ListCauses { when: when(viewer, window), state: wanted, line: Some(q), limit, cursor: None };
    let found = page::list(&state.ledger, &viewer.scope, wanted).await?;
    let ids: Vec<CauseId> = found.list.causes.items.iter().map(|cause| cause.record.id).collect();
    if ids.is_empty() { Err(Error::invalid("cause", NO_CAUSE)) } else { Ok(ids) }
}

/// The address that follows a decision. In the list of open causes it names those that were decided about, so that the
/// list offers to open them again. More than [`BULK_NAMED_MAX`] would make it too long.
fn undoable(form: &Form, causes: &[CauseId]) -> String {
    let next = local_path(form.optional("next").as_deref()).to_owned();
    let were_open = form.text("state") == CauseState::Open.as_str() && form.text("decision") != "reopen";
    if !were_open || !next.starts_with("/failures?") || causes.len() > BULK_NAMED_MAX {
        return next;
    }
    let ids: Vec<u8> = causes.iter().flat_map(|id| *id.0.as_bytes()).collect();
    format!("{next}&undo={}", URL_SAFE_NO_PAD.encode(ids))
}

/// The causes that an address names. What cannot be read is ignored.
fn undone_by(text: &str) -> Vec<CauseId> {
    let bytes = URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
    let ids = bytes.chunks_exact(ID_BYTES).take(BULK_NAMED_MAX);
    ids.filter_map(|id| Some(CauseId(Uuid::from_slice(id).ok()?))).collect()
}

/// The causes whose check boxes are ticked.
fn causes_of(form: &Form) -> Result<Vec<CauseId>, Error> {
    let text = form.text("cause");
    let ids: Result<Vec<CauseId>, _> = text.lines().map(str::parse::<CauseId>).collect();
    let ids = ids.map_err(|error| Error::invalid("cause", error.to_string()))?;
    if ids.is_empty() { Err(Error::invalid("cause", NO_CAUSE)) } else { Ok(ids) }
}

fn decision_of(form: &Form, viewer: &Viewer, now: Timestamp) -> Result<CauseDecision, Error> {
    Ok(match form.text("decision").as_str() {
        "acknowledge" => CauseDecision::Acknowledge,
        "resolve" => CauseDecision::Resolve,
        "reopen" => CauseDecision::Reopen,
        "snooze" => CauseDecision::Snooze(until(form, viewer, now)?),
        _ => return Err(Error::invalid("decision", "acknowledge, snooze, resolve or reopen")),
    })
}

/// The list with what is wrong with the form. The selected causes stay selected.
async fn refused_list(state: &AppState, viewer: Viewer, form: &Form, error: Error) -> Result<Response, PageRejection> {
    let problem = Problem::from(error);
    let [window, state_name, cursor] = ["window", "state", "cursor"].map(|field| form.optional(field));
    let query = Query { window, state: state_name, q: form.optional("q"), cursor, ..Query::default() };
    let mut props = read_list(state, &viewer, query).await?;
    props.form = form.refused("causes", &problem);
    Ok(refuse(&problem, move || ui::list_page(&viewer.shell, props)).await)
}

/// The answer to the form that runs sessions again.
enum Answer {
    /// What would happen.
    Preview(AgainProps),
    /// Where the page with what happened is.
    Address(String),
}

async fn run_again(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<CauseId>,
    form: Form,
) -> Result<Response, PageRejection> {
    match answer(&state, &viewer, id, &form).await {
        Ok(Answer::Preview(props)) => Ok(render(StatusCode::OK, move || ui::again_page(&viewer.shell, props)).await),
        Ok(Answer::Address(address)) => Ok(Redirect::to(&address).into_response()),
        Err(error @ Error::Invalid(_)) => refused(&state, viewer, id, (&form, "again"), error).await,
        Err(error) => Err(error.into()),
    }
}

/// Runs the sessions of the form again, at the pace that it chooses, or says what would happen.
async fn answer(state: &AppState, viewer: &Viewer, id: CauseId, form: &Form) -> Result<Answer, Error> {
    let which = which(form)?;
    if form.text("step") != "run" {
        return preview(state, viewer, id, which).await;
    }
    match run_at_pace(state, viewer, form, chosen(&which)).await? {
        Some(address) => Ok(Answer::Address(address)),
        None => run_now(state, viewer, id, which).await,
    }
}

fn chosen(which: &WhichSessions) -> Option<&[SessionId]> {
    match which {
        WhichSessions::Chosen(ids) => Some(ids),
        WhichSessions::Failed { .. } => None,
    }
}

async fn preview(state: &AppState, viewer: &Viewer, id: CauseId, which: WhichSessions) -> Result<Answer, Error> {
    let request = RunAgain { which, preview: true };
    let result = use_case::run_again(&state.ledger, &viewer.scope, id, request).await?;
    let (message, result) = (message(state, viewer, id).await?, wire_map::ran_again(result));
    let pace = pace_choice(viewer, state.ledger.now());
    Ok(Answer::Preview(AgainProps { id, message, result, is_preview: true, pace }))
}

async fn run_now(state: &AppState, viewer: &Viewer, id: CauseId, which: WhichSessions) -> Result<Answer, Error> {
    let at = state.ledger.now();
    let request = RunAgain { which, preview: false };
    let result = use_case::run_again(&state.ledger, &viewer.scope, id, request).await?;
    let query = BulkAddress::of(&result, at).query();
    Ok(Answer::Address(format!("/failures/{id}/run-again?{query}")))
}

/// The message of a cause.
async fn message(state: &AppState, viewer: &Viewer, id: CauseId) -> Result<String, Error> {
    let (cause, _) = use_case::get(&state.ledger, &viewer.scope, id, When::window(Window::Day)).await?;
    Ok(cause.record.message)
}

/// What happened. An address that names no session leads to the cause.
async fn ran(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<CauseId>,
    Params(query): Params<BulkQuery>,
) -> Result<Response, PageRejection> {
    let message = message(&state, &viewer, id).await?;
    let Some(happened) = BulkAddress::read(&query) else {
        return Ok(Redirect::to(&format!("/failures/{id}")).into_response());
    };
    let which = WhichSessions::Chosen(happened.sessions.clone());
    let repeat = use_case::run_again(&state.ledger, &viewer.scope, id, RunAgain { which, preview: true }).await?;
    let (result, pace) = (happened_to(&happened, repeat), PaceChoice::default());
    let props = AgainProps { id, message, result, is_preview: false, pace };
    Ok(render(StatusCode::OK, move || ui::again_page(&viewer.shell, props)).await)
}

/// What happened, from what a repeat would do.
fn happened_to(happened: &BulkAddress, repeat: BulkResult) -> CauseRunAgain {
    let result = wire_map::ran_again(happened.outcomes(repeat));
    let BulkAddress { done, already, refused, .. } = *happened;
    CauseRunAgain { ready: 0, started: done, already, refused, ..result }
}

/// The sessions that the form names: the selected ones, or those of the time range that its page showed.
fn which(form: &Form) -> Result<WhichSessions, Error> {
    if form.text("which") != "all" {
        let ids = form.below("items[").filter_map(|(name, _)| name.strip_suffix(']')?.parse::<SessionId>().ok());
        let ids: Vec<SessionId> = ids.collect();
        if ids.is_empty() {
            return Err(Error::invalid("sessionIds", "select at least one session"));
        }
        return Ok(WhichSessions::Chosen(ids));
    }
    let time = |field: &str| {
        let text = form.text(field);
        text.parse::<Timestamp>().map_err(|_| Error::invalid(field, "a time such as 2026-01-31T09:00:00Z"))
    };
    let when = When { since: Some(time("since")?), until: Some(time("until")?), window: None, timezone: "UTC".into() };
    let limit = form.optional("limit").map(|limit| limit.parse::<u32>());
    let limit = limit.transpose().map_err(|_| Error::invalid("limit", "a number"))?;
    Ok(WhichSessions::Failed { when, limit })
}
