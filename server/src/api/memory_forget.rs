//! Forgetting a person in the memories of all agents.

use crate::{
    extract::{Caller, JsonBody},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use ledger::memory_forget as use_case;
use runner::forget::forget_person;
use wire::memory_forget::{ForgetPerson, ForgottenPerson, RememberPerson, RememberedPerson};

/// Forget a person
///
/// Lists what the memories of all agents have of a person: their documents, lines that come from their turns, lines
/// that name them, proposals, denied lines, and the captured prompts and answers of sessions in which they wrote. With
/// `apply` all of it is erased, and it cannot be undone. Later turns of the person are neither remembered nor captured
/// until an admin allows it. Only admins forget people.
#[utoipa::path(
    post, path = "/api/memory/forget", operation_id = "forgetPerson", tag = "memory",
    request_body = ForgetPerson,
    responses(
        (status = 200, description = "What is erased, or would be", body = ForgottenPerson),
    ),
)]
pub async fn forget(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<ForgetPerson>,
) -> Result<Json<ForgottenPerson>, Problem> {
    let (apply, of) = (body.apply, wire_map::forget_person(body));
    let found = if apply {
        forget_person(&state.ledger, &state.turn_capture, caller.scope(), of).await?
    } else {
        use_case::preview(&state.ledger, caller.scope(), of).await?
    };
    Ok(Json(wire_map::forgotten_person(found)))
}

/// Remember a person again
///
/// Ends that a person is forgotten: what they say from now on may be remembered. Nothing comes back. Only admins do
/// this.
#[utoipa::path(
    post, path = "/api/memory/remember", operation_id = "rememberPerson", tag = "memory",
    request_body = RememberPerson,
    responses(
        (status = 200, description = "They may be remembered", body = RememberedPerson),
        (
            status = 404, description = "`not_found`: this person is not forgotten",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn remember(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<RememberPerson>,
) -> Result<Json<RememberedPerson>, Problem> {
    let use_case::Remembered { path, is_shared } = use_case::lift(&state.ledger, caller.scope(), &body.person).await?;
    Ok(Json(RememberedPerson { path, is_shared }))
}
