//! The same done to several sessions.

use crate::{
    extract::{Caller, JsonBody},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use ledger::bulk;
use wire::session_bulk::{BulkSessions, BulkSessionsResult};

/// Do the same to several sessions
///
/// Each session is checked and changed by itself, as with `retrySession`, `cancelSession` and `acknowledgeFailure`: a
/// refusal concerns one session. A session that was run again, cancelled or acknowledged before is left alone, so that
/// the request can be repeated. With `dryRun`, nothing is changed. Nothing is done for a session of another workspace,
/// or one that the caller cannot see: its outcome is `refused`.
#[utoipa::path(
    post, path = "/api/sessions/bulk", operation_id = "changeSessions", tag = "sessions",
    request_body = BulkSessions,
    responses(
        (status = 200, description = "What happened to each session, or would happen", body = BulkSessionsResult),
        (
            status = 403, description = "`forbidden`: the caller may not start sessions",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: no or too many sessions, or `q` is no search line",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn change(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<BulkSessions>,
) -> Result<Json<BulkSessionsResult>, Problem> {
    let request = wire_map::bulk_request(body)?;
    Ok(Json(wire_map::bulk_result(bulk::run(&state.ledger, caller.scope(), request).await?)))
}
