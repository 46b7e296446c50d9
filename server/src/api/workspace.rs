//! Settings of the workspace.

use crate::{
    extract::{Caller, JsonBody},
    problem::Problem,
    state::AppState,
};
use axum::{Json, extract::State};
use ledger::gate as use_case;
use wire::settings::{UpdateWorkspace, Workspace};

/// Read the workspace's settings
#[utoipa::path(
    get, path = "/api/workspace", operation_id = "getWorkspace", tag = "workspace",
    responses(
        (status = 200, description = "The settings", body = Workspace),
    ),
)]
pub async fn get(State(state): State<AppState>, caller: Caller) -> Result<Json<Workspace>, Problem> {
    Ok(Json(Workspace { undo_seconds: use_case::undo_seconds(&state.ledger, caller.scope()).await? }))
}

/// Change the workspace's settings
///
/// Admins only.
#[utoipa::path(
    patch, path = "/api/workspace", operation_id = "updateWorkspace", tag = "workspace",
    request_body = UpdateWorkspace,
    responses(
        (status = 200, description = "As they are now", body = Workspace),
    ),
)]
pub async fn update(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<UpdateWorkspace>,
) -> Result<Json<Workspace>, Problem> {
    use_case::set_undo_seconds(&state.ledger, caller.scope(), body.undo_seconds).await?;
    Ok(Json(Workspace { undo_seconds: body.undo_seconds }))
}
