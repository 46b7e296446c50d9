//! What whoever has a link to a tool uses.
//!
//! /r/{secret} asks before it opens the link and exchanges the secret for cookies; /tool-links/{id} has the form of the
//! tool; /tool-links/{id}/runs/{run} shows a run that this browser has begun. None reads the sign-in of a member. Every
//! request here that reads the database counts towards the limits of people without an account.

use super::{
    answer::{Visit, secret_key},
    form::FormWithFiles,
    shared::{NO_REFERRER, form_referrer, frame, gone, guarded, opened, wait},
    shell::{PageRejection, render},
    tool_input::{Pressed, pressed, refused, typed_input},
};
use crate::{form_limit::RUN_WAIT_SECONDS, problem::Problem, result_file, state::AppState, wire_map};
use app::{
    FormState,
    shared_page::Frame,
    tool_by_link::{self as ui, FormProps, OpenProps, RunProps},
};
use axum::{
    Router,
    extract::{Path, State},
    http::{StatusCode, header::SET_COOKIE},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use domain::{
    id::{SessionId, ToolLinkId},
    session::Session,
};
use ledger::{
    Error,
    tool_link::{self, Cookies, Entered, LinkRun, Opened},
};
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/r/{secret}", get(ask).post(enter))
        .route("/tool-links/{id}", get(show).post(submit))
        .route("/tool-links/{id}/runs/{run}", get(show_run))
        .route("/tool-links/{id}/runs/{run}/result", get(result))
}

/// The page that asks first. It is the same for every secret, also for one that opens nothing, and reads nothing: what
/// fetches addresses from messages learns nothing, and counts as no visit.
async fn ask(State(state): State<AppState>, visit: Visit, Path(secret): Path<String>) -> Response {
    let referrer = form_referrer(&state);
    let action: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let props = OpenProps { frame: frame(&state, &visit, referrer), action: format!("/r/{action}") };
    guarded(render(StatusCode::OK, move || ui::open_page(&props)).await, referrer)
}

/// Exchanges the secret for cookies of the page with the form.
async fn enter(
    State(state): State<AppState>,
    visit: Visit,
    Path(secret): Path<String>,
) -> Result<Response, PageRejection> {
    if !visit.is_allowed(&state, Some(&secret_key(&secret))) {
        return Ok(wait(&state, &visit).await);
    }
    let browser = state.cookies.respondent(&visit.headers);
    match opened(tool_link::enter(&state.ledger, &secret, browser).await)? {
        Some(entered) => Ok(to_form(&state, &entered)?),
        None => Ok(gone(&state, &visit).await),
    }
}

/// Redirects to the form of a link, with the cookies that permit its use.
fn to_form(state: &AppState, entered: &Entered) -> Result<Response, Problem> {
    let path = path(entered.link.id);
    let clearance = state.cookies.set_form(&entered.clearance, &path, entered.link.expires_at, state.ledger.now());
    let mut response = guarded(Redirect::to(&path).into_response(), NO_REFERRER);
    for cookie in [state.cookies.set_respondent(&entered.browser), clearance] {
        let cookie = cookie.ok_or_else(|| Problem::internal("the cookie of a tool's link is not a header value"))?;
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// The path of the form of a link.
fn path(id: ToolLinkId) -> String {
    format!("/tool-links/{id}")
}

fn cookies<'a>(state: &AppState, visit: &'a Visit) -> Cookies<'a> {
    Cookies { browser: state.cookies.respondent(&visit.headers), clearance: state.cookies.form(&visit.headers) }
}

/// The tool of the link with this id, if the browser has opened it, or the page in its place. A posted form must carry
/// its key.
async fn opened_link(
    state: &AppState,
    visit: &Visit,
    id: &str,
    form_key: Option<&str>,
) -> Result<Result<Opened, Response>, PageRejection> {
    let Ok(id) = id.parse::<ToolLinkId>() else { return Ok(Err(gone(state, visit).await)) };
    if !visit.is_allowed(state, Some(&id.to_string())) {
        return Ok(Err(wait(state, visit).await));
    }
    match opened(tool_link::open(&state.ledger, id, cookies(state, visit), form_key).await)? {
        Some(found) => Ok(Ok(found)),
        None => Ok(Err(gone(state, visit).await)),
    }
}

async fn show(State(state): State<AppState>, visit: Visit, Path(id): Path<String>) -> Result<Response, PageRejection> {
    match opened_link(&state, &visit, &id, None).await? {
        Ok(link) => Ok(form(&state, &visit, link, untouched(), StatusCode::OK).await),
        Err(refused) => Ok(refused),
    }
}

/// A form that was not sent.
fn untouched() -> Pressed {
    Pressed { state: FormState::default(), focus: String::new() }
}

/// The page with the form, which holds what was typed.
async fn form(state: &AppState, visit: &Visit, link: Opened, typed: Pressed, status: StatusCode) -> Response {
    let referrer = form_referrer(state);
    let props = form_props(state, frame(state, visit, referrer), link, typed);
    guarded(render(status, move || ui::form_page(&props)).await, referrer)
}

fn form_props(state: &AppState, frame: Frame, link: Opened, typed: Pressed) -> FormProps {
    FormProps {
        frame: Frame { css_href: state.assets.path("run-css").unwrap_or_default(), ..frame },
        action: path(link.link.id),
        key: link.form_key,
        page_id: state.ledger.request_id().to_string(),
        definition: link.version.definition,
        form: typed.state,
        focus: typed.focus,
        expires_at: link.link.expires_at,
    }
}

async fn submit(
    State(state): State<AppState>,
    visit: Visit,
    Path(id): Path<String>,
    sent: FormWithFiles,
) -> Result<Response, PageRejection> {
    let link = match opened_link(&state, &visit, &id, Some(&sent.form.text("_key"))).await? {
        Ok(link) => link,
        Err(refused) => return Ok(refused),
    };
    match pressed("run", &link.version.definition.input_schema, &sent) {
        Some(Ok(pressed)) => Ok(form(&state, &visit, link, pressed, StatusCode::OK).await),
        Some(Err(problem)) => Ok(again(&state, &visit, link, &sent, &problem).await),
        None => Ok(begin(&state, &visit, link, &sent).await),
    }
}

/// Runs the tool and leads to the page of the run.
async fn begin(state: &AppState, visit: &Visit, link: Opened, sent: &FormWithFiles) -> Response {
    match begun(state, visit, &link, sent).await {
        Ok(Some(session)) => to_run(link.link.id, session.id),
        Ok(None) => gone(state, visit).await,
        Err(problem) => again(state, visit, link, sent, &problem).await,
    }
}

/// Runs the tool with the typed input, once if the page is sent twice. `None` if the link does not work any more.
async fn begun(
    state: &AppState,
    visit: &Visit,
    link: &Opened,
    sent: &FormWithFiles,
) -> Result<Option<Session>, Problem> {
    let input = typed_input(&link.version.definition.input_schema, sent)?;
    if !visit.may_begin_run(state) {
        return Err(too_many_runs());
    }
    let run = tool_link::run(&state.ledger, link, input, Some(&sent.form.text("_id"))).await;
    opened(run).map_err(not_begun)
}

/// The refusal of a run of an address over its limit.
fn too_many_runs() -> Problem {
    Problem::detailed(
        Code::TooManyRequests,
        "Too many runs were begun from your network within an hour. Try again in a few minutes.",
    )
    .with_retry_after(RUN_WAIT_SECONDS)
}

/// Why a run did not begin.
fn not_begun(error: Error) -> Problem {
    match error {
        // The page that is shown now begins a run of its own.
        Error::IdConflict { .. } => Problem::detailed(
            Code::IdConflict,
            "This page has begun a run with another input already. Press “Run” again to begin a further one.",
        ),
        error => Problem::from(error),
    }
}

/// Redirects to the page of a run.
fn to_run(link: ToolLinkId, run: SessionId) -> Response {
    guarded(Redirect::to(&format!("{}/runs/{run}", path(link))).into_response(), NO_REFERRER)
}

/// The page with the typed input and why the run did not begin.
async fn again(state: &AppState, visit: &Visit, link: Opened, sent: &FormWithFiles, problem: &Problem) -> Response {
    let typed = refused("run", &link.version.definition.input_schema, &sent.form, problem);
    let typed = Pressed { state: typed, focus: String::new() };
    let mut response = form(state, visit, link, typed, problem.status()).await;
    problem.mark(&mut response);
    response
}

async fn show_run(
    State(state): State<AppState>,
    visit: Visit,
    Path((id, run)): Path<(String, String)>,
) -> Result<Response, PageRejection> {
    match read_run(&state, &visit, (&id, &run)).await? {
        Ok(run) => Ok(run_page(frame(&state, &visit, NO_REFERRER), run).await),
        Err(refused) => Ok(refused),
    }
}

/// Saves the result of a run as a file.
async fn result(
    State(state): State<AppState>,
    visit: Visit,
    Path((id, run)): Path<(String, String)>,
) -> Result<Response, PageRejection> {
    let session = match read_run(&state, &visit, (&id, &run)).await? {
        Ok(run) => run.session,
        Err(refused) => return Ok(refused),
    };
    match session.result() {
        Some(result) => Ok(guarded(result_file::saved("result.json", result.to_owned()), NO_REFERRER)),
        None => Ok(gone(&state, &visit).await),
    }
}

/// Reads a run that this browser has begun by the link, or the page in its place.
async fn read_run(
    state: &AppState,
    visit: &Visit,
    (id, run): (&str, &str),
) -> Result<Result<LinkRun, Response>, PageRejection> {
    let (Ok(id), Ok(run)) = (id.parse::<ToolLinkId>(), run.parse::<SessionId>()) else {
        return Ok(Err(gone(state, visit).await));
    };
    if !visit.is_allowed(state, Some(&id.to_string())) {
        return Ok(Err(wait(state, visit).await));
    }
    match opened(tool_link::result(&state.ledger, id, cookies(state, visit), run).await)? {
        Some(found) => Ok(Ok(found)),
        None => Ok(Err(gone(state, visit).await)),
    }
}

async fn run_page(frame: Frame, run: LinkRun) -> Response {
    let props = run_props(frame, run);
    guarded(render(StatusCode::OK, move || ui::run_page(&props)).await, NO_REFERRER)
}

fn run_props(frame: Frame, LinkRun { link, version, session }: LinkRun) -> RunProps {
    let form_href = path(link.id);
    RunProps {
        frame,
        run_href: format!("{form_href}/runs/{}", session.id),
        form_href,
        session: wire_map::session(session),
        input_schema: version.definition.input_schema,
        expires_at: link.expires_at,
    }
}
