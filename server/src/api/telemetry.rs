//! Training telemetry of the workspace.

use crate::{
    extract::{Caller, JsonBody},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use ledger::telemetry as use_case;
use wire::telemetry::{AnswerTelemetry, Telemetry};

/// Read whether the workspace shares numbers for training
#[utoipa::path(
    get, path = "/api/telemetry/opt-in", operation_id = "getTelemetry", tag = "workspace",
    responses(
        (status = 200, description = "The answer of the workspace", body = Telemetry),
    ),
)]
pub async fn get(State(state): State<AppState>, caller: Caller) -> Result<Json<Telemetry>, Problem> {
    Ok(Json(wire_map::telemetry(use_case::state(&state.ledger, caller.scope()).await?)))
}

/// Answer whether the workspace shares numbers for training
///
/// Admins only. An agent that was made to ask sends the answer of its person here.
#[utoipa::path(
    post, path = "/api/telemetry/opt-in", operation_id = "answerTelemetry", tag = "workspace",
    request_body = AnswerTelemetry,
    responses(
        (status = 200, description = "As it is now", body = Telemetry),
    ),
)]
pub async fn answer(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<AnswerTelemetry>,
) -> Result<Json<Telemetry>, Problem> {
    Ok(Json(wire_map::telemetry(use_case::answer(&state.ledger, caller.scope(), body.enabled).await?)))
}
