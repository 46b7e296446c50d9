//! Paced runs: sessions that are run again a few at a time, or from a time on.

use crate::{
    extract::{Caller, Id, JsonBody, PageQuery, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::id::PacedRunId;
use ledger::paced_run as use_case;
use wire::{
    Page,
    paced_run::{NewPacedRun, PacedRun, PacedRunDetail},
};

/// Run sessions again at a pace
///
/// Each session becomes a new one, as with `retrySession`: at most `atATime` of the new sessions are queued or running,
/// and none is started before `startAt`. A new session that waits for a person, a tool or others makes room for the
/// next one. Each is started with the rights that the caller has at that time. A session that cannot be run again, or
/// that someone has run again before, is left out. The paced run is stored and goes on after a restart of the server.
#[utoipa::path(
    post, path = "/api/paced-runs", operation_id = "createPacedRun", tag = "sessions",
    request_body = NewPacedRun,
    responses(
        (status = 201, description = "Created, or created by an earlier request with this key", body = PacedRunDetail),
        (
            status = 403, description = "`forbidden`: the caller may not start sessions",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`id_conflict`: the key made a different paced run",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: `errors` names the fields, `sessionIds` if none of the \
                sessions can be run again; `limit_reached`: the workspace has 50 paced runs that have not ended",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<NewPacedRun>,
) -> Result<(StatusCode, Json<PacedRunDetail>), Problem> {
    let made = use_case::create(&state.ledger, caller.scope(), wire_map::new_paced_run(body)).await?;
    Ok((StatusCode::CREATED, Json(wire_map::paced_run_detail(made))))
}

/// List paced runs
///
/// The caller's own, or everyone's for operators and admins. The newest one comes first.
#[utoipa::path(
    get, path = "/api/paced-runs", operation_id = "listPacedRuns", tag = "sessions",
    params(PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<PacedRun>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<PacedRun>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::paced_run)))
}

/// Read a paced run
///
/// For the caller who made it, and for operators and admins. One that has ended is kept for at least 30 days.
#[utoipa::path(
    get, path = "/api/paced-runs/{id}", operation_id = "getPacedRun", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The paced run")),
    responses(
        (status = 200, description = "The paced run with its sessions", body = PacedRunDetail),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<PacedRunId>,
) -> Result<Json<PacedRunDetail>, Problem> {
    let found = use_case::get(&state.ledger, caller.scope(), id).await?;
    Ok(Json(wire_map::paced_run_detail(found)))
}

/// Cancel a paced run
///
/// It starts no further session. Those that it has started go on. Can be repeated, and changes nothing if it is done.
#[utoipa::path(
    post, path = "/api/paced-runs/{id}/cancel", operation_id = "cancelPacedRun", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The paced run")),
    responses(
        (status = 200, description = "As it is now", body = PacedRunDetail),
        (
            status = 403, description = "`forbidden`: the caller may not start sessions",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn cancel(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<PacedRunId>,
) -> Result<Json<PacedRunDetail>, Problem> {
    let cancelled = use_case::cancel(&state.ledger, caller.scope(), id).await?;
    Ok(Json(wire_map::paced_run_detail(cancelled)))
}
