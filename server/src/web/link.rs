//! Single-use links: /link/{secret} moves the secret into a cookie, /link uses it.
//!
//! The first request only sets a cookie and redirects to a path without the secret, so that no page can send the
//! secret in a Referer header. Opening a link does not use it up, because previews of messages open links.

use super::{
    form::Form,
    shell::{PageRejection, Visitor, refuse, render},
    sign_in::{Sender, signed_in_response},
};
use crate::{browser::browser, problem::Problem, sign_in_log::Attempt, state::AppState};
use app::{
    FormState, Shell,
    link::{self as ui, Props, Purpose},
};
use axum::{
    Router,
    extract::{Path, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{REFERRER_POLICY, SET_COOKIE},
    },
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use ledger::auth::{self, LinkUse, OpenLink, SignedIn};
use std::net::IpAddr;
use wire::Code;

pub fn router() -> Router<AppState> {
    Router::new().route("/link/{secret}", get(enter)).route("/link", get(show).post(submit))
}

async fn enter(State(state): State<AppState>, Visitor(shell): Visitor, Path(secret): Path<String>) -> Response {
    let mut response = match state.cookies.set_link(&secret) {
        Some(cookie) => {
            let mut response = Redirect::to("/link").into_response();
            response.headers_mut().append(SET_COOKIE, cookie);
            response
        }
        None => render(StatusCode::GONE, move || ui::gone_page(&shell)).await,
    };
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

async fn show(
    State(state): State<AppState>,
    Visitor(shell): Visitor,
    headers: HeaderMap,
) -> Result<Response, PageRejection> {
    match find(&state, &headers).await? {
        Some(link) => {
            let props = props(link, FormState::default());
            Ok(render(StatusCode::OK, move || ui::page(&shell, &props)).await)
        }
        None => Ok(link_expired_page(&state, shell).await),
    }
}

async fn submit(
    State(state): State<AppState>,
    Visitor(shell): Visitor,
    Sender(address): Sender,
    headers: HeaderMap,
    form: Form,
) -> Result<Response, PageRejection> {
    let Some(link) = find(&state, &headers).await? else { return Ok(link_expired_page(&state, shell).await) };
    match use_link(&state, &link, &headers, &form, address).await {
        Ok(signed_in) => used(&state, &link, &signed_in),
        Err(problem) if problem.code() == Code::NotFound => Ok(link_expired_page(&state, shell).await),
        Err(problem) => Ok(refused(shell, link, &form, &problem).await),
    }
}

/// Uses the link with the posted name and password, and logs that.
async fn use_link(
    state: &AppState,
    link: &OpenLink,
    headers: &HeaderMap,
    form: &Form,
    address: IpAddr,
) -> Result<SignedIn, Problem> {
    let secret = state.cookies.link(headers).unwrap_or_default();
    let (name, password) = (form.text("name"), form.text("password"));
    let outcome = auth::use_link(&state.ledger, secret, &name, &password, &browser(headers)).await;
    let outcome = outcome.map_err(Problem::from);
    report(state, link, address, outcome.as_ref());
    outcome
}

/// Logs and counts a use of a link that signs a person in or asks for their password. The other links choose a new
/// password, which can only be too short or too long.
fn report(state: &AppState, link: &OpenLink, address: IpAddr, outcome: Result<&SignedIn, &Problem>) {
    let attempt = Attempt { address, account: &link.email };
    match outcome {
        Ok(_) => attempt.accepted(),
        Err(problem) if problem.code() == Code::NotFound => {}
        Err(problem) if matches!(link.to, LinkUse::JoinWithAccount(_)) => attempt.refused(&state.metrics, problem),
        Err(_) => {}
    }
}

/// The page again, with what was refused.
async fn refused(shell: Shell, link: OpenLink, form: &Form, problem: &Problem) -> Response {
    let props = props(link, form.refused("", problem));
    refuse(problem, move || ui::page(&shell, &props)).await
}

/// Signs in whoever used the link, and says what it did.
fn used(state: &AppState, link: &OpenLink, signed_in: &SignedIn) -> Result<Response, PageRejection> {
    let notice = if link.to == LinkUse::Reset { "password_changed" } else { "joined" };
    let mut response = signed_in_response(state, signed_in, &format!("/today?notice={notice}"))?;
    clear_link_cookie(state, &mut response);
    Ok(response)
}

/// The link whose secret is in the cookie, if it is still valid.
async fn find(state: &AppState, headers: &HeaderMap) -> Result<Option<OpenLink>, PageRejection> {
    match state.cookies.link(headers) {
        Some(secret) => Ok(auth::find_link(&state.ledger, secret).await?),
        None => Ok(None),
    }
}

fn props(link: OpenLink, form: FormState) -> Props {
    let to = match link.to {
        LinkUse::Join(role) => Purpose::Join(role),
        LinkUse::JoinWithAccount(role) => Purpose::JoinWithAccount(role),
        LinkUse::Reset => Purpose::Reset,
    };
    Props { to, workspace: link.tenant.name, email: link.email, expires_at: link.expires_at, form }
}

async fn link_expired_page(state: &AppState, shell: Shell) -> Response {
    let mut response = render(StatusCode::GONE, move || ui::gone_page(&shell)).await;
    clear_link_cookie(state, &mut response);
    response
}

fn clear_link_cookie(state: &AppState, response: &mut Response) {
    if let Some(cookie) = state.cookies.clear_link() {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}
