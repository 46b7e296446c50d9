//! The worker API: claim, heartbeat, complete, fail, yield, wake, release.

use crate::{
    extract::{Caller, Id, JsonBody, JsonBodyOrDefault},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::HeaderMap};
use domain::{
    id::SessionId,
    limit::CLAIM_WAIT_SECONDS_MAX,
    tool::{Kind, run::of_agent},
};
use ledger::{session as use_case, worker as seen};
use std::time::Duration;
use wire::{Code, session::Session, worker};

/// The header of claims and heartbeats. Only described here: [`name`] reads it.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes a header")]
struct WorkerHeader {
    /// What the worker calls itself. Pages count an agent's workers by it.
    #[param(rename = "Shiftbook-Worker", value_type = wire::schema::WorkerName, required = false)]
    worker: Option<String>,
}

/// Claim sessions
///
/// Takes queued sessions, oldest first. With `waitSeconds` the request waits until there is work. The answer is empty
/// if there is none. `dependencies` and `children` have the results of related sessions. `context` is the recent
/// activity of the person for whom a session runs.
#[utoipa::path(
    post, path = "/api/sessions/claim", operation_id = "claimSessions",
    tag = "worker", request_body = Option<worker::Claim>,
    params(WorkerHeader),
    responses(
        (status = 200, description = "Sessions now held by the caller", body = worker::Claimed),
    ),
)]
pub async fn claim(
    State(state): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    JsonBodyOrDefault(body): JsonBodyOrDefault<worker::Claim>,
) -> Result<Json<worker::Claimed>, Problem> {
    let (wait, wanted) = wanted(body)?;
    // A stopping server answers its waiting workers.
    let (name, stop) = (name(&headers), state.shutdown.begun());
    let records = seen::claim_seen(&state.ledger, caller.scope(), name, wanted, wait, stop).await?;
    if !wait.is_zero() && !caller.still_valid(&state, &headers).await {
        use_case::release_all(&state.ledger, caller.scope(), records).await;
        return Err(Problem::detailed(Code::Unauthenticated, "access ended while the claim waited"));
    }
    state.metrics.record_claims(records.len());
    Ok(Json(wire_map::claimed(records)))
}

/// The name that the worker gives itself.
fn name(headers: &HeaderMap) -> Option<&str> {
    headers.get(worker::NAME_HEADER)?.to_str().ok()
}

/// How long a claim waits, and for what. The server runs `http` tools itself: their calls need secrets that no worker
/// gets. No one claims the run of a composite tool.
fn wanted(body: worker::Claim) -> Result<(Duration, use_case::Claim), Problem> {
    let wait = wait(body.wait_seconds)?;
    let is_of_server = |agent: &String| matches!(of_agent(agent), Some((Kind::Http | Kind::Composite | Kind::Mcp, _)));
    if body.agent_slugs.iter().flatten().any(is_of_server) {
        return Err(Problem::field(Code::InvalidRequest, "agentSlugs", "the server runs this tool"));
    }
    Ok((wait, wire_map::claim(body)))
}

fn wait(seconds: Option<u32>) -> Result<Duration, Problem> {
    let seconds = seconds.unwrap_or_default();
    if seconds <= CLAIM_WAIT_SECONDS_MAX {
        Ok(Duration::from_secs(seconds.into()))
    } else {
        let message = format!("a claim waits 0 to {CLAIM_WAIT_SECONDS_MAX} s");
        Err(Problem::field(Code::InvalidRequest, "waitSeconds", message))
    }
}

/// Extend the lease of a session
///
/// Send a heartbeat about three times per lease, well before the lease ends.
#[utoipa::path(
    post, path = "/api/sessions/{id}/heartbeat", operation_id = "heartbeat",
    tag = "worker", request_body = worker::Attempt,
    params(
        ("id" = uuid::Uuid, Path, description = "The session"),
        WorkerHeader,
    ),
    responses(
        (status = 200, description = "The lease's new end", body = worker::Lease),
        (
            status = 409, description = "`stale_attempt`: another attempt holds it; stop working on it",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn heartbeat(
    State(state): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<worker::Attempt>,
) -> Result<Json<worker::Lease>, Problem> {
    let lease_expires_at = use_case::heartbeat(&state.ledger, caller.scope(), id, body.attempt).await?;
    seen::see_again(&state.ledger, caller.scope(), name(&headers), lease_expires_at).await;
    Ok(Json(worker::Lease { lease_expires_at }))
}

/// Complete a session
///
/// The session is running, or its worker left it idle and no later attempt has claimed it. `ifStatus` narrows that.
///
/// The result must satisfy the output contract of the session's action. Its changes of entities are written in the same
/// transaction. A repeated request with the same attempt is answered with the recorded end.
///
/// The first result of an attempt that violates the contract is recorded, and the session continues. The same request
/// again gets the same answer. Another result that violates the contract fails the session.
#[utoipa::path(
    post, path = "/api/sessions/{id}/complete", operation_id = "completeSession",
    tag = "worker", request_body = worker::Complete,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The recorded outcome", body = Session),
        (
            status = 409, description = "`stale_attempt`, `already_final` or `wrong_status`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`output_invalid`: the result breaks the contract; `errors` says where",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn complete(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<worker::Complete>,
) -> Result<Json<Session>, Problem> {
    let (completion, if_status) = wire_map::completion(body);
    let record = use_case::complete_in(&state.ledger, caller.scope(), id, completion, if_status).await?;
    Ok(Json(wire_map::session(record)))
}

/// Fail a session
///
/// The session is running, or its worker left it idle or waiting for a tool and no later attempt has claimed it.
/// `ifStatus` narrows that. An open approval of a tool call is withdrawn.
///
/// A repeated request with the same attempt is answered with the recorded end.
#[utoipa::path(
    post, path = "/api/sessions/{id}/fail", operation_id = "failSession", tag = "worker", request_body = worker::Fail,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The recorded outcome", body = Session),
        (
            status = 409, description = "`stale_attempt`, `already_final` or `wrong_status`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn fail(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<worker::Fail>,
) -> Result<Json<Session>, Problem> {
    let (failure, if_status) = wire_map::failure(body);
    let record = use_case::fail_in(&state.ledger, caller.scope(), id, failure, if_status).await?;
    Ok(Json(wire_map::session(record)))
}

/// Yield a session
///
/// The session waits until a person answers or decides, a tool returns, or a message or its worker continues it. With
/// `question` or `pausedToolCall` an approval opens, and the next claim has the decision as `resume`. With
/// `waitFor: "children"` the session is queued again when every session that it started has ended, at once if all have.
/// The next claim has their results as `children`.
#[utoipa::path(
    post, path = "/api/sessions/{id}/yield", operation_id = "yieldSession",
    tag = "worker", request_body = worker::Yield,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The yielded session", body = Session),
        (
            status = 409, description = "`stale_attempt`, `already_final` or `wrong_status`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn yield_to(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<worker::Yield>,
) -> Result<Json<Session>, Problem> {
    let record = use_case::yield_to(&state.ledger, caller.scope(), id, wire_map::yield_request(body)?).await?;
    Ok(Json(wire_map::session(record)))
}

/// Wake a session
///
/// The worker that left the session `idle` takes it back under the same attempt, with a new lease. Its next call goes
/// on as if it had not yielded. A conversation continues with the next message of its person instead.
#[utoipa::path(
    post, path = "/api/sessions/{id}/wake", operation_id = "wakeSession", tag = "worker", request_body = worker::Wake,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The session, running", body = Session),
        (
            status = 409, description = "`stale_attempt`, `already_final` or `wrong_status`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn wake(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<worker::Wake>,
) -> Result<Json<Session>, Problem> {
    let (ledger, scope) = (&state.ledger, caller.scope());
    Ok(Json(wire_map::session(use_case::wake(ledger, scope, id, body.attempt, body.lease_seconds).await?)))
}

/// Release a session
///
/// Queues the unfinished session again for another worker. At attempt 20 after its newest input it fails instead.
#[utoipa::path(
    post, path = "/api/sessions/{id}/release", operation_id = "releaseSession",
    tag = "worker", request_body = worker::Attempt,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The queued session, or the failed one", body = Session),
        (
            status = 409, description = "`stale_attempt`, `already_final` or `wrong_status`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn release(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<worker::Attempt>,
) -> Result<Json<Session>, Problem> {
    Ok(Json(wire_map::session(use_case::release(&state.ledger, caller.scope(), id, body.attempt).await?)))
}
