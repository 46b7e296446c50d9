//! The memory writer of an agent.

use crate::{
    extract::{AgentSlug, Caller, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use domain::Timestamp;
use ledger::memory_writer as use_case;
use serde::Deserialize;
use wire::memory_writer::{MemoryFlush, MemoryRuns};

/// The query of [`flush`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FlushQuery {
    /// Also read the agent's sessions that began at this time or later, however long before the writer's first start.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
}

/// Run the memory writer
///
/// Asks for a run of the agent's memory writer now, also of a window that is parked after three failures. The run
/// begins within seconds on a server whose settings describe a memory writer. If there is none, or the budget of the
/// day is used up, the request is kept and the answer says what it waits for.
#[utoipa::path(
    post, path = "/api/agents/{slug}/memory/flush", operation_id = "flushMemory", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent"), FlushQuery),
    responses(
        (status = 200, description = "Asked", body = MemoryFlush),
        (
            status = 403, description = "`forbidden`: only operators and admins ask for a run",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn flush(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
    Params(query): Params<FlushQuery>,
) -> Result<Json<MemoryFlush>, Problem> {
    let terms = state.memory_writer(&caller.0.tenant.slug, &agent).map(|writer| writer.terms);
    let added = match query.since {
        Some(since) => Some(use_case::read_since(&state.ledger, caller.scope(), &agent, since).await?),
        None => None,
    };
    let flushed = use_case::flush(&state.ledger, caller.scope(), &agent, terms).await?;
    Ok(Json(wire_map::memory_flush(flushed, added)))
}

/// List runs of the memory writer
///
/// The newest 50 runs of the agent's memory writer with their cost, newest first. A run that failed says why.
#[utoipa::path(
    get, path = "/api/agents/{slug}/memory/runs", operation_id = "listMemoryRuns", tag = "memory",
    params(("slug" = wire::schema::Slug, Path, description = "The agent")),
    responses(
        (status = 200, description = "The runs", body = MemoryRuns),
    ),
)]
pub async fn runs(
    State(state): State<AppState>,
    caller: Caller,
    AgentSlug(agent): AgentSlug,
) -> Result<Json<MemoryRuns>, Problem> {
    let runs = use_case::runs(&state.ledger, caller.scope(), &agent).await?;
    Ok(Json(MemoryRuns { items: runs.into_iter().map(wire_map::memory_run).collect() }))
}
