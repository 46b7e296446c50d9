//! Tags of a session, and the member who looks after it.

use crate::{
    extract::{Caller, Id, JsonBody},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use domain::id::SessionId;
use ledger::session::{self as use_case, Tagging};
use wire::session::{AssignSession, Session, TagSession};

/// Add and remove tags of a session
///
/// What the session has or lacks already is left alone, so that the request can be repeated. The log records what
/// changed. Works in every status. People change their own sessions, operators and admins all.
#[utoipa::path(
    post, path = "/api/sessions/{id}/tags", operation_id = "tagSession", tag = "sessions",
    request_body = TagSession,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The session with its tags", body = Session),
        (
            status = 409, description = "`wrong_status`: its content was erased",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: no tag, a wrong one, or more than a session can have",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn tag(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<TagSession>,
) -> Result<Json<Session>, Problem> {
    let tagging = Tagging { add: body.add, remove: body.remove };
    Ok(Json(wire_map::session(use_case::tag(&state.ledger, caller.scope(), id, tagging).await?)))
}

/// Assign a session
///
/// To an active member of the workspace, or to no one. The log records both people. Works in every status, and can be
/// repeated. An incognito conversation cannot be assigned. People assign their own sessions, operators and admins all.
#[utoipa::path(
    post, path = "/api/sessions/{id}/assignee", operation_id = "assignSession", tag = "sessions",
    request_body = AssignSession,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The session with its assignee", body = Session),
        (
            status = 409, description = "`wrong_status`: its content was erased",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: no active member of the workspace",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn assign(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<AssignSession>,
) -> Result<Json<Session>, Problem> {
    Ok(Json(wire_map::session(use_case::assign(&state.ledger, caller.scope(), id, body.user_id).await?)))
}
