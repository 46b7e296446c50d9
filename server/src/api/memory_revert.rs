//! Reverting what one session wrote into the memory of an agent.

use crate::{
    extract::{AgentSlug, Caller, JsonBody},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use ledger::memory as use_case;
use wire::memory_revert::{RevertMemorySession, RevertedMemorySession};

/// Revert what a session wrote into a memory
///
/// Takes every line whose origin is a turn of the session out of the newest versions. Text that the session replaced
/// comes back, unless the same place was changed since. Documents of which nothing is left are deleted; their versions
/// stay. With `apply` it is written, all of it or nothing.
#[utoipa::path(
    post, path = "/api/agents/{slug}/memory/revert-session", operation_id = "revertMemorySession", tag = "memory",
    request_body = RevertMemorySession,
    params(("slug" = wire::schema::Slug, Path, description = "The agent")),
    responses(
        (status = 200, description = "What changes, or would", body = RevertedMemorySession),
        (
            status = 409, description = "`stale_version`: someone wrote at the same time",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn revert_session(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    JsonBody(body): JsonBody<RevertMemorySession>,
) -> Result<Json<RevertedMemorySession>, Problem> {
    let RevertMemorySession { session_id, reason, apply } = body;
    let of = use_case::RevertSession { session_id, reason };
    let found = if apply {
        use_case::revert_session(&state.ledger, caller.scope(), &agent, of).await?
    } else {
        use_case::preview_revert_session(&state.ledger, caller.scope(), &agent, of).await?
    };
    Ok(Json(wire_map::reverted_memory_session(apply, found)))
}
