//! The memories that the prompts of a session had, and their ratings.

use crate::{
    extract::{Caller, Id, JsonBody, Limit, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use domain::id::SessionId;
use ledger::{ListPage, relevance as use_case};
use serde::Deserialize;
use wire::{
    Page,
    relevance::{RateMemories, RatedMemories, SessionMemory},
};

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

/// List the memories of a session
///
/// Every memory that was considered for a prompt, given to the agent or not, with its ratings: the newest prompt first,
/// by rank. They have no texts. Empty for private and incognito sessions.
#[utoipa::path(
    get, path = "/api/sessions/{id}/memories", operation_id = "listSessionMemories", tag = "memory",
    params(("id" = uuid::Uuid, Path, description = "The session"), ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<SessionMemory>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<SessionMemory>>, Problem> {
    let page = ListPage { limit: query.limit.0, cursor: query.cursor };
    let listed = use_case::list(&state.ledger, caller.scope(), id, page).await?;
    Ok(Json(wire_map::page(listed, wire_map::session_memory)))
}

/// Rate the memories of a session
///
/// For the person of the session, its agent, operators and admins. A person who is signed in rates for themselves,
/// every other caller for the agent. A later rating of the same memory for the same prompt replaces the earlier one.
/// Valid ratings count; the others are reported one by one and change nothing.
#[utoipa::path(
    post, path = "/api/sessions/{id}/memory-feedback", operation_id = "rateSessionMemories", tag = "memory",
    request_body = RateMemories,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The result of each rating", body = RatedMemories),
        (
            status = 409, description = "`stale_attempt`: another attempt runs the session",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn rate(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<RateMemories>,
) -> Result<Json<RatedMemories>, Problem> {
    let ratings = wire_map::memory_ratings(&body.memory_feedback)?;
    let report = use_case::rate(&state.ledger, caller.scope(), id, body.attempt, ratings).await?;
    Ok(Json(wire_map::rated_memories(report)))
}
