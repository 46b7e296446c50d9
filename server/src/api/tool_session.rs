//! The sessions of tools.

use crate::{
    extract::{Caller, Id, JsonBody, Limit, Params, query_id},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use domain::{id::SessionId, tool::RunState};
use ledger::{ListPage, tool_run as use_case};
use serde::Deserialize;
use wire::{
    Page,
    session::Session,
    tool_run::{PromoteToolSession, ToolSession},
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
    Ok(Json(wire_map::page(listed, wire_map::tool_session)))
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
    Ok(Json(wire_map::tool_session(use_case::get(&state.ledger, caller.scope(), id).await?)))
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
