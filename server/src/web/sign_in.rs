//! Signing in and out, first-run set-up, switching workspaces.

use super::{
    form::Form,
    posted::kept_form,
    shell::{PageRejection, Viewer, Visitor, local_path, redirect_with_notice, refuse, render},
};
use crate::{
    browser::browser,
    extract::{Params, identify},
    form_limit::{address, network},
    host::is_local,
    problem::Problem,
    sign_in_log::Attempt,
    state::AppState,
};
use app::{FormState, Shell, setup, sign_in};
use axum::{
    Router,
    extract::{FromRequestParts, State},
    http::{HeaderMap, StatusCode, header::SET_COOKIE, request::Parts},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use ledger::auth::{self, SignedIn};
use serde::Deserialize;
use std::{convert::Infallible, net::IpAddr};
use tracing::Instrument as _;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/", get(home))
        .route("/sign-in", get(show).post(submit))
        .route("/sign-out", post(sign_out))
        .route("/setup", get(show_setup).post(submit_setup))
        .route("/workspace", post(switch))
}

async fn home() -> Redirect {
    Redirect::to("/today")
}

#[derive(Deserialize)]
struct Next {
    next: Option<String>,
}

async fn show(
    State(state): State<AppState>,
    Params(query): Params<Next>,
    headers: HeaderMap,
    Visitor(shell): Visitor,
) -> Result<Response, PageRejection> {
    if auth::needs_setup(&state.ledger).await? {
        return Ok(Redirect::to("/setup").into_response());
    }
    if identify(&state, &headers).await?.is_some() {
        return Ok(Redirect::to(local_path(query.next.as_deref())).into_response());
    }
    let props = sign_in::Props { next: query.next, ..sign_in::Props::default() };
    Ok(render(StatusCode::OK, move || sign_in::page(&shell, &props)).await)
}

/// The address that a request comes from.
pub(super) struct Sender(pub(super) IpAddr);

impl FromRequestParts<AppState> for Sender {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &AppState) -> Result<Self, Self::Rejection> {
        let peer = parts.extensions.get().copied();
        Ok(Self(address(peer, &parts.headers)))
    }
}

async fn submit(
    State(state): State<AppState>,
    Visitor(shell): Visitor,
    Sender(address): Sender,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    let kept = kept_form(&form);
    match authenticate(&state, address, &form, &browser(&headers)).await {
        Ok(signed_in) => go_on(&state, shell, &signed_in, &form, kept).await,
        Err(problem) => Ok(refused(shell, &form, &problem, kept).await),
    }
}

/// Signs in the person with the posted address and password, and logs that. The place of the network is held while
/// they are checked.
async fn authenticate(state: &AppState, address: IpAddr, form: &Form, browser: &str) -> Result<SignedIn, Problem> {
    let outcome = checked(state, network(address), form, browser).await;
    let attempt = Attempt { address, account: &form.text("email") };
    match &outcome {
        Ok(_) => attempt.accepted(),
        Err(problem) => {
            attempt.refused(&state.metrics, problem);
            record_refused(state, address, form.text("email"), problem);
        }
    }
    outcome
}

/// Records a wrong password in the audit list. The answer does not wait for it: by the time that it takes, a stranger
/// could tell which accounts exist.
fn record_refused(state: &AppState, address: IpAddr, email: String, problem: &Problem) {
    if problem.code() != Code::BadCredentials {
        return;
    }
    let ledger = state.ledger.clone();
    let record = async move {
        if let Err(error) = auth::record_refused_sign_in(&ledger, &email, address).await {
            tracing::warn!(%error, "a refused sign-in is not in the audit list");
        }
    };
    tokio::spawn(record.in_current_span());
}

async fn checked(state: &AppState, network: IpAddr, form: &Form, browser: &str) -> Result<SignedIn, Problem> {
    let _place = state.sign_in_places.take(network)?;
    Ok(auth::sign_in(&state.ledger, &form.text("email"), &form.text("password"), browser).await?)
}

/// The page of a sign-in that is refused.
async fn refused(shell: Shell, form: &Form, problem: &Problem, kept: Option<sign_in::KeptForm>) -> Response {
    let props = sign_in::Props { next: form.optional("next"), form: form.refused("", problem), kept };
    refuse(problem, move || sign_in::page(&shell, &props)).await
}

/// Leads a person who has signed in to the page that they wanted, or shows the form that was kept, to send it.
async fn go_on(
    state: &AppState,
    shell: Shell,
    signed_in: &SignedIn,
    form: &Form,
    kept: Option<sign_in::KeptForm>,
) -> Result<Response, PageRejection> {
    let next = form.optional("next");
    let next = local_path(next.as_deref());
    let Some(kept) = kept else { return signed_in_response(state, signed_in, next) };
    let (who, back) = (form.text("email"), next.to_owned());
    let page = render(StatusCode::OK, move || sign_in::resend_page(&shell, &kept, &who, &back)).await;
    with_session(state, signed_in, page)
}

async fn sign_out(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, PageRejection> {
    if let Some(secret) = state.cookies.session(&headers) {
        auth::sign_out(&state.ledger, secret).await?;
    }
    let mut response = Redirect::to("/sign-in?notice=signed_out").into_response();
    if let Some(cookie) = state.cookies.clear_session() {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Whether the caller must enter the set-up code: everyone except a browser on this machine.
struct RequiresSetupCode(bool);

impl FromRequestParts<AppState> for RequiresSetupCode {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Self::Rejection> {
        let peer = parts.extensions.get().copied();
        Ok(Self(!is_local(peer, &parts.uri, &parts.headers, state.public_origin.as_deref())))
    }
}

async fn show_setup(
    State(state): State<AppState>,
    Visitor(shell): Visitor,
    RequiresSetupCode(asks_code): RequiresSetupCode,
) -> Result<Response, PageRejection> {
    if !auth::needs_setup(&state.ledger).await? {
        return Ok(Redirect::to("/sign-in").into_response());
    }
    Ok(render(StatusCode::OK, move || setup::page(&shell, asks_code, &FormState::default())).await)
}

async fn submit_setup(
    State(state): State<AppState>,
    Visitor(shell): Visitor,
    RequiresSetupCode(asks_code): RequiresSetupCode,
    Sender(address): Sender,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    match set_up(&state, (asks_code, address), &form, &browser(&headers)).await {
        Ok(signed_in) => signed_in_response(&state, &signed_in, "/today?notice=setup_done"),
        Err(problem) => {
            let refused = form.refused("", &problem);
            Ok(refuse(&problem, move || setup::page(&shell, asks_code, &refused)).await)
        }
    }
}

/// Makes the first workspace and its admin, if the form has the set-up code that is asked for.
async fn set_up(
    state: &AppState,
    (asks_code, address): (bool, IpAddr),
    form: &Form,
    browser: &str,
) -> Result<SignedIn, Problem> {
    if asks_code && !state.set_up.is_code(&form.text("code")) {
        let wanted = "the set-up code that the server printed when it started";
        let wrong = Problem::field(Code::InvalidRequest, "code", wanted);
        Attempt { address, account: "" }.refused(&state.metrics, &wrong);
        return Err(wrong);
    }
    let (workspace, email) = (form.text("workspace"), form.text("email"));
    Ok(auth::setup(&state.ledger, &workspace, &email, &form.text("password"), browser).await?)
}

async fn switch(
    State(state): State<AppState>,
    viewer: Viewer,
    headers: HeaderMap,
    form: Form,
) -> Result<Redirect, PageRejection> {
    let secret = state.cookies.session(&headers).unwrap_or_default();
    auth::switch(&state.ledger, secret, &viewer.scope, &form.text("slug")).await?;
    Ok(redirect_with_notice("/today", "workspace_switched"))
}

pub(super) fn signed_in_response(
    state: &AppState,
    signed_in: &SignedIn,
    path: &str,
) -> Result<Response, PageRejection> {
    with_session(state, signed_in, Redirect::to(path).into_response())
}

fn with_session(state: &AppState, signed_in: &SignedIn, mut response: Response) -> Result<Response, PageRejection> {
    let cookie = state.cookies.set_session(&signed_in.secret, signed_in.expires_at, state.ledger.now());
    let cookie = cookie.ok_or_else(|| Problem::internal("the session cookie is not a header value"))?;
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(response)
}
