//! Running tools.

use crate::{
    extract::{Caller, JsonBodyOrDefault, ToolSlug},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::{Scope, id::SessionId, limit::TOOL_RUN_WAIT_SECONDS_MAX};
use ledger::tool_run as use_case;
use std::time::Duration;
use wire::{
    Code,
    tool_run::{RunTool, ToolRun},
};

/// Run a tool
///
/// Runs the published version in a session of type `tool`. With `waitSeconds` the request waits for its end: the answer
/// is 200 with the result or the error of the run, or 202 if it has not ended by then. Follow its session in this case.
///
/// Values of private fields are not in the session: whoever runs the tool gets them, and they are deleted at its end.
///
/// A run with the error code `may_have_run` was not repeated: its call has no answer, or its worker was lost.
#[utoipa::path(
    post, path = "/api/tools/{slug}/run", operation_id = "runTool", tag = "tools", request_body = Option<RunTool>,
    params(("slug" = wire::schema::Slug, Path, description = "The tool")),
    responses(
        (status = 200, description = "The run has ended", body = ToolRun),
        (status = 202, description = "The run has not ended yet", body = ToolRun),
        (
            status = 403, description = "`forbidden`: the caller is not in the tool's audience",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`id_conflict`: the key was used for something else; `wrong_status`: the tool \
                is not published; `already_final`: the parent was stopped",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: the input schema refuses the input. Each field is `input` \
                and the JSON Pointer of the value",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn run(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
    JsonBodyOrDefault(body): JsonBodyOrDefault<RunTool>,
) -> Result<(StatusCode, Json<ToolRun>), Problem> {
    let (ledger, scope, wait) = (&state.ledger, caller.scope(), wait(body.wait_seconds)?);
    let begun = use_case::run(ledger, scope, &slug, wire_map::run_tool(body)).await?;
    answer(&state, scope, begun.id, wait).await
}

/// Test a tool
///
/// Runs the working copy, published or not, in a session of type `tool` that is marked as a test: its title begins with
/// "Test of", its `source` is `tool-test`, and `revision` names the working copy. Calls and steps are real, and a tool
/// that requires confirmation waits for it. Insights leave tests out. For operators and admins.
#[utoipa::path(
    post, path = "/api/tools/{slug}/test", operation_id = "testTool", tag = "tools", request_body = Option<RunTool>,
    params(("slug" = wire::schema::Slug, Path, description = "The tool")),
    responses(
        (status = 200, description = "The test has ended", body = ToolRun),
        (status = 202, description = "The test has not ended yet", body = ToolRun),
        (
            status = 403, description = "`forbidden`: the caller may not change tools, or the tool has secrets, its call \
                differs from that of the newest version, and the caller is no admin",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`id_conflict`: the key was used for something else",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: the input schema refuses the input, or a step of the working \
                copy could not be published",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn test(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
    JsonBodyOrDefault(body): JsonBodyOrDefault<RunTool>,
) -> Result<(StatusCode, Json<ToolRun>), Problem> {
    let wait = wait(body.wait_seconds)?;
    let begun = use_case::test(&state.ledger, caller.scope(), &slug, wire_map::run_tool(body)).await?;
    answer(&state, caller.scope(), begun.id, wait).await
}

/// Waits for the end of a run, at most `wait`, and answers with what it is then.
pub async fn answer(
    state: &AppState,
    scope: &Scope,
    id: SessionId,
    wait: Duration,
) -> Result<(StatusCode, Json<ToolRun>), Problem> {
    let session = use_case::wait_for_end(&state.ledger, scope, id, wait, state.shutdown.begun()).await?;
    let status = if session.status().is_final() { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok((status, Json(wire_map::tool_run(session))))
}

/// Reads `waitSeconds`.
pub fn wait(seconds: Option<u32>) -> Result<Duration, Problem> {
    let seconds = seconds.unwrap_or_default();
    if seconds <= TOOL_RUN_WAIT_SECONDS_MAX {
        return Ok(Duration::from_secs(seconds.into()));
    }
    let message = format!("0 to {TOOL_RUN_WAIT_SECONDS_MAX} s");
    Err(Problem::field(Code::InvalidRequest, "waitSeconds", message))
}
