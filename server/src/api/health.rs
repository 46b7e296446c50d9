//! Health checks for load balancers, and metrics. They need no credentials.

use crate::{problem::Problem, state::AppState};
use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};

/// Check that the process is alive
#[utoipa::path(
    get, path = "/healthz", operation_id = "healthz", tag = "operation", security(()),
    responses(
        (status = 200, description = "Alive", body = String, content_type = "text/plain"),
    ),
)]
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Check that the server can answer requests
///
/// Refuses from the beginning of a stop, and while the database cannot be reached.
#[utoipa::path(
    get, path = "/readyz", operation_id = "readyz", tag = "operation", security(()),
    responses(
        (status = 200, description = "Ready", body = String, content_type = "text/plain"),
    ),
)]
pub async fn readyz(State(state): State<AppState>) -> Result<&'static str, Problem> {
    if state.shutdown.has_begun() {
        return Err(Problem::unavailable("stopping"));
    }
    state.ledger.ready().await?;
    Ok("ready\n")
}

/// Read metrics
///
/// Counters and gauges in the text format of OpenMetrics.
#[utoipa::path(
    get, path = "/metrics", operation_id = "metrics", tag = "operation", security(()),
    responses(
        (status = 200, description = "Metrics", body = String, content_type = "application/openmetrics-text"),
    ),
)]
pub async fn metrics(State(state): State<AppState>) -> Result<Response, Problem> {
    let text = state
        .metrics
        .render(&state.ledger, &state.turn_capture)
        .map_err(|error| Problem::internal(error.to_string()))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
