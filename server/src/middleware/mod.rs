//! The middleware before all routes: request id, span, cross-origin check, owner of the page, limits on addresses,
//! bodies and time, panics, security headers, rendering of problems, the log line and its metrics.

mod body;
mod body_limit;
mod csrf;
mod encoding;
mod finish;
mod headers;
mod owner;
mod request_id;
mod target_limit;

pub use request_id::RequestId;

use crate::{host, nonce::Nonce, problem::Problem, request_span, state::AppState};
use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, Method},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::FutureExt;
use std::{panic::AssertUnwindSafe, sync::Arc};
use tokio::time::Instant;

/// Data of a request that is kept until its response is complete.
struct RequestInfo {
    id: RequestId,
    method: Method,
    /// Pattern of the route. The path itself would put ids and queries into logs and metrics.
    route: Arc<str>,
    /// Whether the response can be a page.
    pages: bool,
    reader: finish::Audience,
    /// Headers of the request that an error page needs: the theme is in a cookie.
    headers: HeaderMap,
    started: Instant,
}

/// Runs a request with all checks of this module.
pub async fn run(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let seen = RequestInfo {
        id: RequestId::of(request.headers(), &state.ledger),
        method: request.method().clone(),
        route: request.extensions().get::<MatchedPath>().map_or_else(|| "-".into(), |path| path.as_str().into()),
        pages: finish::may_be_page(request.uri().path()),
        reader: finish::Audience::of(&request),
        headers: HeaderMap::new(),
        started: Instant::now(),
    };
    let span = request_span::of(seen.id.as_str(), &seen.method, &seen.route, request.headers(), state.exports_spans);
    request_span::inside(span, answer(state, request, next, seen)).await
}

async fn answer(state: AppState, mut request: Request, next: Next, mut seen: RequestInfo) -> Response {
    let nonce = seen.pages.then(|| Nonce::new(&*state.entropy));
    request.extensions_mut().insert(seen.id.clone());
    if let Some(nonce) = &nonce {
        request.extensions_mut().insert(nonce.clone());
    }
    if seen.reader == finish::Audience::Person {
        seen.headers = request.headers().clone();
    }
    let mut response = match admit(&state, request, seen.pages).await {
        // What the body takes of the server is free again when the handler has answered.
        Ok((request, _held)) => call(request, next).await,
        Err(problem) => problem.into_response(),
    };
    let code = finish::finish(&mut response, &seen, &state, nonce.as_ref()).await;
    headers::apply(response.headers_mut(), &seen, nonce.as_ref(), state.cookies.is_secure());
    record(&state, &seen, &response, code);
    response
}

/// Checks a request and reads its body. What load balancers ask is answered without: their answers depend on nothing
/// else, and `/healthz` must not wait for the database.
async fn admit(state: &AppState, request: Request, pages: bool) -> Result<(Request, body::Held<'_>), Problem> {
    target_limit::check(request.uri())?;
    if host::is_probe(request.uri().path()) {
        return Ok((request, body::Held::default()));
    }
    if pages && state.set_up.is_open(&state.ledger).await? {
        host::check(request.uri(), request.headers(), state.public_origin.as_deref())?;
    }
    csrf::check(request.method(), request.headers(), state.public_origin.as_deref(), state.cookies)?;
    let (request, held) = body::buffer(state, request).await?;
    owner::check(state, request.method(), request.uri(), request.headers()).await?;
    Ok((request, held))
}

/// Runs the handler. A panic fails this request with 500 and does not close the connection.
async fn call(request: Request, next: Next) -> Response {
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Problem::internal(format!("handler panicked: {text}")).into_response()
        }
    }
}

/// Counts the response and logs it: refusals as `info`, successes as `debug`. The span of the request adds its fields.
fn record(state: &AppState, seen: &RequestInfo, response: &Response, code: Option<wire::Code>) {
    let latency = seen.started.elapsed();
    let status = response.status();
    state.metrics.request(&seen.route, &seen.method, status, latency);
    let latency_us = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
    if let Some(code) = code.map(wire::Code::as_str) {
        tracing::info!(target: "shiftbook::request", status = status.as_u16(), code, latency_us);
    } else {
        tracing::debug!(target: "shiftbook::request", status = status.as_u16(), latency_us);
    }
    request_span::record_status(status);
}
