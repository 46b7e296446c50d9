//! Ratings of sessions that have ended.

use crate::{
    extract::{Caller, Id, JsonBody, Params, query_id},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::{id::SessionId, session_feedback::Surface};
use ledger::feedback::{self as use_case, Undone};
use serde::Deserialize;
use wire::thread::{MemoryStatus, OwnFeedback, RateSession};

/// Rate a session
///
/// For people, and for tokens that act for a person, after the session has ended. Each person has one rating of a
/// session: a new label replaces the earlier one.
#[utoipa::path(
    put, path = "/api/sessions/{id}/feedback", operation_id = "rateSession", tag = "feedback",
    request_body = RateSession,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The caller's rating", body = OwnFeedback),
        (
            status = 202, description = "The caller's rating, which is still to be written: its database is locked",
            body = OwnFeedback,
        ),
        (
            status = 409, description = "`wrong_status`: it has not ended",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn rate(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<RateSession>,
) -> Result<(StatusCode, Json<OwnFeedback>), Problem> {
    let source = if caller.scope().user_id().is_some() { Surface::WebEnd } else { Surface::ApiEnd };
    let given = use_case::record(&state.ledger, caller.scope(), id, body.label, source).await?;
    let status = if given.is_late { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(wire_map::own_feedback(Some(&given.rating)))))
}

/// Read one's own rating
///
/// No one can read the rating of another person.
#[utoipa::path(
    get, path = "/api/sessions/{id}/feedback", operation_id = "getOwnRating", tag = "feedback",
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The caller's rating; its label is null where there is none", body = OwnFeedback),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<OwnFeedback>, Problem> {
    let kept = use_case::of_session(&state.ledger, caller.scope(), id).await?;
    Ok(Json(wire_map::own_feedback(kept.as_ref())))
}

/// Remove one's rating
///
/// The rating is deleted. The request can be repeated.
#[utoipa::path(
    delete, path = "/api/sessions/{id}/feedback", operation_id = "undoRating", tag = "feedback",
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 202, description = "The rating is still to be removed: its database is locked"),
        (status = 204, description = "The caller has no rating of it"),
    ),
)]
pub async fn undo(State(state): State<AppState>, caller: Caller, Id(id): Id<SessionId>) -> Result<StatusCode, Problem> {
    Ok(match use_case::undo(&state.ledger, caller.scope(), id).await? {
        Undone::Removed | Undone::Nothing => StatusCode::NO_CONTENT,
        Undone::Late => StatusCode::ACCEPTED,
    })
}

/// The query of [`status`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct StatusQuery {
    /// Id of a conversation or another session.
    #[serde(default, deserialize_with = "query_id")]
    #[param(value_type = Option<uuid::Uuid>)]
    thread_id: Option<SessionId>,
}

/// Count what is stored
///
/// The turns, events and ratings of a conversation. If ratings cannot be read, the rest is returned.
#[utoipa::path(
    get, path = "/api/memory/status", operation_id = "memoryStatus", tag = "feedback", params(StatusQuery),
    responses(
        (status = 200, description = "Counts", body = MemoryStatus),
        (
            status = 404, description = "`not_found`: no such session, or not for this caller",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn status(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<StatusQuery>,
) -> Result<Json<MemoryStatus>, Problem> {
    let status = use_case::status(&state.ledger, caller.scope(), query.thread_id).await?;
    Ok(Json(wire_map::memory_status(&status)))
}
