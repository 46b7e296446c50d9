//! The sessions of tools.

use super::tool_run::{answer, wait};
use crate::{
    extract::{Caller, Id, JsonBody, JsonBodyOrDefault, Limit, Params, ToolSlug, query_id},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::{id::SessionId, tool::RunState};
use ledger::{
    ListPage,
    tool_run::{self as use_case, draft},
};
use serde::Deserialize;
use wire::{
    Page,
    session::Session,
    tool_run::{ChangeToolFields, OpenToolDraft, PromoteToolSession, RunToolDraft, ToolRun, ToolSession},
};

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// Runs of the tool with this slug.
    #[param(value_type = Option<wire::schema::Slug>)]
    tool: Option<String>,
    /// Runs in this state.
    #[param(value_type = Option<wire::schema::ToolSessionStatus>)]
    status: Option<RunState>,
    /// Runs that this session started, such as the steps of a composite tool.
    #[serde(default, deserialize_with = "query_id")]
    #[param(value_type = Option<uuid::Uuid>)]
    parent_id: Option<SessionId>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

impl From<ListQuery> for use_case::ListRuns {
    fn from(query: ListQuery) -> Self {
        let ListQuery { tool, status: state, parent_id, limit, cursor } = query;
        Self { tool, state, parent_id, page: ListPage { limit: limit.0, cursor } }
    }
}

/// List the sessions of tools
///
/// Every session of the type `tool`, newest first: runs of tools of the workspace, steps of composite tools among them,
/// and sessions of the type `tool` that workers or programs created. With `tool` or `status`, a page can hold few
/// sessions or none and still have a `nextCursor`.
#[utoipa::path(
    get, path = "/api/tool-sessions", operation_id = "listToolSessions", tag = "tools",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<ToolSession>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<ToolSession>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    let drafts = draft::of_sessions(&state.ledger, caller.scope(), &listed.items).await?;
    Ok(Json(wire_map::tool_sessions(listed, drafts)))
}

/// Read the session of a tool
#[utoipa::path(
    get, path = "/api/tool-sessions/{id}", operation_id = "getToolSession", tag = "tools",
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The session", body = ToolSession),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<ToolSession>, Problem> {
    let found = draft::get(&state.ledger, caller.scope(), id).await?;
    let output = use_case::output(&state.ledger, caller.scope(), id).await?.map(wire_map::tool_run_output);
    Ok(Json(ToolSession { output, ..wire_map::tool_session(found) }))
}

/// Open a draft of a run
///
/// A session of the type `tool` in the status `draft`, to fill in before the run begins. Its log has each change of a
/// field. A draft that is not saved for 24 hours is abandoned; `POST /api/sessions/{id}/cancel` cancels it.
#[utoipa::path(
    post, path = "/api/tools/{slug}/sessions", operation_id = "openToolDraft", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The tool")), request_body = Option<OpenToolDraft>,
    responses(
        (status = 201, description = "The draft", body = ToolSession),
        (
            status = 403, description = "`forbidden`: the caller is not in the tool's audience",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`id_conflict`: the key was used for something else; `wrong_status`: the tool \
                is not published",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: fields that cannot be kept; `limit_reached`: the caller has \
                too many drafts of the tool",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn open(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
    JsonBodyOrDefault(body): JsonBodyOrDefault<OpenToolDraft>,
) -> Result<(StatusCode, Json<ToolSession>), Problem> {
    let opened = draft::open(&state.ledger, caller.scope(), &slug, wire_map::open_tool_draft(body)).await?;
    Ok((StatusCode::CREATED, Json(wire_map::tool_session(opened))))
}

/// Change fields of a draft
///
/// The caller's own draft. The log gets `tool.field_changed` with the old and the new value: of each field at most once
/// in 10 seconds, and every change when the form is left or the run begins. Of a private field it has only that it
/// changed, and the draft does not keep its value. A repeat changes nothing.
#[utoipa::path(
    patch, path = "/api/tool-sessions/{id}/fields", operation_id = "changeToolFields", tag = "tools",
    params(("id" = uuid::Uuid, Path, description = "The session")), request_body = ChangeToolFields,
    responses(
        (status = 200, description = "As it is now", body = ToolSession),
        (
            status = 403, description = "`forbidden`: the draft belongs to someone else",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`stale_version`: the draft was saved elsewhere since it was read; \
                `wrong_status`: its run has begun, or it has ended",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn change_fields(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<ChangeToolFields>,
) -> Result<Json<ToolSession>, Problem> {
    let change = wire_map::change_tool_fields(body);
    let changed = draft::change_fields(&state.ledger, caller.scope(), id, change).await?;
    Ok(Json(wire_map::tool_session(changed)))
}

/// Run a draft
///
/// Runs the caller's own draft with the version that is published now. Private values come with this request. A repeat
/// is answered with the same run. The answer is as that of `POST /api/tools/{slug}/run`.
#[utoipa::path(
    post, path = "/api/tool-sessions/{id}/run", operation_id = "runToolDraft", tag = "tools",
    params(("id" = uuid::Uuid, Path, description = "The session")), request_body = Option<RunToolDraft>,
    responses(
        (status = 200, description = "The run has ended", body = ToolRun),
        (status = 202, description = "The run has not ended yet", body = ToolRun),
        (
            status = 403, description = "`forbidden`: the draft belongs to someone else, or the caller is not in the \
                tool's audience",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`stale_version`: the draft was saved elsewhere since it was read; \
                `id_conflict`: it runs already with other fields; `wrong_status`: it has ended, or the tool is not \
                published",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: the input schema refuses the fields. Each field is `input` \
                and the JSON Pointer of the value",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn run(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBodyOrDefault(body): JsonBodyOrDefault<RunToolDraft>,
) -> Result<(StatusCode, Json<ToolRun>), Problem> {
    let wait = wait(body.wait_seconds)?;
    let begun = draft::begin(&state.ledger, caller.scope(), id, wire_map::run_tool_draft(body)).await?;
    answer(&state, caller.scope(), begun.id, wait).await
}

/// Write the result of a tool to an entity
///
/// The result is the output of a task, in a session of its own, which is the answer: its safety rules judge it, and
/// where the task requires approval, it waits in the inbox. The session's parent is the session of the tool, and the
/// new version of the entity names it. A repeat answers with the same session. A denied result can be written again.
#[utoipa::path(
    post, path = "/api/tool-sessions/{id}/promote", operation_id = "promoteToolSession", tag = "tools",
    request_body = PromoteToolSession,
    params(("id" = uuid::Uuid, Path, description = "The session of the tool, which has completed")),
    responses(
        (status = 200, description = "The session of the task", body = Session),
        (
            status = 422, description = "`hard_block`: a safety rule blocks the result",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn promote(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<PromoteToolSession>,
) -> Result<Json<Session>, Problem> {
    let written = use_case::promote(&state.ledger, caller.scope(), id, wire_map::promote_run(body)).await?;
    Ok(Json(wire_map::session(written)))
}
