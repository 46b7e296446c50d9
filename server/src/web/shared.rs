//! What whoever has a link to a session reads. /s/{secret} asks before it opens the link and exchanges the secret for a
//! cookie; /shared/{id} shows the session, and /shared/{id}/result saves its result. None reads the sign-in of a
//! member. Every request here that reads the database counts towards the limits of people without an account.

use super::{
    answer::{Visit, secret_key, too_many_requests},
    shell::{PageRejection, refuse, render},
};
use crate::{cookie, extract::Params, problem::Problem, result_file, state::AppState, wire_map};
use app::{
    Theme,
    shared_page::{self as ui, Frame, OpenProps, Part, Props},
};
use axum::{
    Router,
    extract::{Path, State},
    http::{
        HeaderName, HeaderValue, StatusCode,
        header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, SET_COOKIE},
    },
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use domain::{event::Event, id::ShareLinkId};
use ledger::{
    Error,
    event::Slice,
    share_link::{self, Entered, Shared},
};
use serde::Deserialize;

/// The pages load one style sheet and an icon, post to this server, and do nothing else.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; \
     object-src 'none'",
);
/// For search engines and programs that show previews of links.
const NO_INDEX: HeaderValue = HeaderValue::from_static("noindex, nofollow, noarchive, nosnippet, noimageindex");
/// The address of the page is in no request to anybody.
pub const NO_REFERRER: &str = "no-referrer";
/// The same for a page with a form that is read over plain HTTP: with `no-referrer` the browser would post the form
/// with `Origin: null`, which is refused. It names this server and no address of a page.
pub const NO_ADDRESS: &str = "strict-origin";

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/s/{secret}", get(ask).post(enter))
        .route("/shared/{id}", get(show))
        .route("/shared/{id}/result", get(result))
}

/// Paths and settings of a page.
pub fn frame(state: &AppState, visit: &Visit, referrer: &'static str) -> Frame {
    let theme = match cookie::theme(&visit.headers) {
        Some(cookie::Theme::Light) => Theme::Light,
        Some(cookie::Theme::Dark) => Theme::Dark,
        None => Theme::System,
    };
    Frame { css_href: state.assets.path("shared-css").unwrap_or_default(), theme, referrer }
}

/// Adds the headers that every answer here has.
pub fn guarded(mut response: Response, referrer: &'static str) -> Response {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static(referrer));
    headers.insert(HeaderName::from_static("x-robots-tag"), NO_INDEX);
    response
}

/// The referrer policy of a page with a form.
pub fn form_referrer(state: &AppState) -> &'static str {
    if state.cookies.is_secure() { NO_REFERRER } else { NO_ADDRESS }
}

/// The page for a link that shows nothing, whatever the reason.
pub async fn gone(state: &AppState, visit: &Visit) -> Response {
    let frame = frame(state, visit, NO_REFERRER);
    guarded(render(StatusCode::NOT_FOUND, move || ui::gone_page(&frame)).await, NO_REFERRER)
}

/// The page for a reader over the limit of requests.
pub async fn wait(state: &AppState, visit: &Visit) -> Response {
    let frame = frame(state, visit, NO_REFERRER);
    guarded(refuse(&too_many_requests(), move || ui::wait_page(&frame)).await, NO_REFERRER)
}

/// What was found of a link. `None` if it shows nothing, whatever the reason.
pub fn opened<T>(found: ledger::Result<T>) -> ledger::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::NotFound(_) | Error::NoInstanceKey) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The page that asks first. It is the same for every secret, also for one that opens nothing, and reads nothing: what
/// fetches addresses from messages learns nothing, and counts as no visit.
async fn ask(State(state): State<AppState>, visit: Visit, Path(secret): Path<String>) -> Response {
    let referrer = form_referrer(&state);
    let action: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let props = OpenProps { frame: frame(&state, &visit, referrer), action: format!("/s/{action}") };
    guarded(render(StatusCode::OK, move || ui::open_page(&props)).await, referrer)
}

/// Exchanges the secret for a cookie of the page.
async fn enter(
    State(state): State<AppState>,
    visit: Visit,
    Path(secret): Path<String>,
) -> Result<Response, PageRejection> {
    if !visit.is_allowed(&state, Some(&secret_key(&secret))) {
        return Ok(wait(&state, &visit).await);
    }
    match opened(share_link::enter(&state.ledger, &secret).await)? {
        Some(entered) => Ok(to_page(&state, &entered)?),
        None => Ok(gone(&state, &visit).await),
    }
}

/// Redirects to the page of a link, with the cookie that permits its reading.
fn to_page(state: &AppState, entered: &Entered) -> Result<Response, Problem> {
    let path = format!("/shared/{}", entered.link.id);
    let cookie = state.cookies.set_shared(&entered.clearance, &path, entered.link.expires_at, state.ledger.now());
    let cookie = cookie.ok_or_else(|| Problem::internal("the cookie of a shared page is not a header value"))?;
    let mut response = guarded(Redirect::to(&path).into_response(), NO_REFERRER);
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(response)
}

#[derive(Default, Deserialize)]
struct ShowQuery {
    after: Option<u64>,
}

async fn show(
    State(state): State<AppState>,
    visit: Visit,
    Path(id): Path<String>,
    Params(query): Params<ShowQuery>,
) -> Result<Response, PageRejection> {
    let after = query.after.unwrap_or_default();
    match read(&state, &visit, &id, after).await? {
        Ok(shared) => Ok(page(frame(&state, &visit, NO_REFERRER), shared, after).await),
        Err(refused) => Ok(refused),
    }
}

/// Saves the result of a shared session as a file. Whatever a link shows has the result.
async fn result(
    State(state): State<AppState>,
    visit: Visit,
    Path(id): Path<String>,
) -> Result<Response, PageRejection> {
    let shared = match read(&state, &visit, &id, 0).await? {
        Ok(shared) => shared,
        Err(refused) => return Ok(refused),
    };
    match shared.session.result() {
        Some(result) => Ok(guarded(result_file::saved("result.json", result.to_owned()), NO_REFERRER)),
        None => Ok(gone(&state, &visit).await),
    }
}

/// Reads what the link with this id shows, if the browser has opened it, or the page in its place.
async fn read(
    state: &AppState,
    visit: &Visit,
    id: &str,
    after: u64,
) -> Result<Result<Shared, Response>, PageRejection> {
    let Ok(id) = id.parse::<ShareLinkId>() else { return Ok(Err(gone(state, visit).await)) };
    if !visit.is_allowed(state, Some(&id.to_string())) {
        return Ok(Err(wait(state, visit).await));
    }
    let clearance = state.cookies.shared(&visit.headers);
    match opened(share_link::read(&state.ledger, id, clearance, after).await)? {
        Some(shared) => Ok(Ok(shared)),
        None => Ok(Err(gone(state, visit).await)),
    }
}

async fn page(frame: Frame, shared: Shared, after: u64) -> Response {
    let Shared { link, session, events } = shared;
    let props = Props {
        frame,
        session: wire_map::session(session),
        result_href: format!("/shared/{}/result", link.id),
        audience: link.audience,
        log: events.map(|slice| part(link.id, slice, after)),
        expires_at: link.expires_at,
    };
    guarded(render(StatusCode::OK, move || ui::page(&props)).await, NO_REFERRER)
}

/// A part of the log with the addresses of others.
fn part(id: ShareLinkId, slice: Slice, after: u64) -> Part {
    let last = slice.events.last().map(|event: &Event| event.sequence);
    Part {
        first: (after > 0).then(|| format!("/shared/{id}")),
        next: last.filter(|_| slice.has_more).map(|last| format!("/shared/{id}?after={last}")),
        events: slice.events.into_iter().map(wire_map::event).collect(),
    }
}
