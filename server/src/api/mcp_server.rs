//! MCP servers, the tools that they list, and importing them.

use crate::{
    extract::{Caller, JsonBody, McpServerSlug, PageQuery, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use ledger::mcp_server as use_case;
use wire::{
    Page,
    mcp_server::{CreateMcpServer, ImportMcpTools, ImportedMcpTools, McpServer, McpTools, UpdateMcpServer},
};

/// Add an MCP server
///
/// The server is not called before its tools are asked for. Secret headers are for admins.
#[utoipa::path(
    post, path = "/api/mcp-servers", operation_id = "createMcpServer", tag = "tools",
    request_body = CreateMcpServer,
    responses(
        (status = 201, description = "Added", body = McpServer),
        (
            status = 409, description = "`name_taken`: the slug belongs to another MCP server",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateMcpServer>,
) -> Result<(StatusCode, Json<McpServer>), Problem> {
    let record = use_case::create(&state.ledger, caller.scope(), wire_map::new_mcp_server(body)).await?;
    Ok((StatusCode::CREATED, Json(wire_map::mcp_server(record))))
}

/// List MCP servers
///
/// The newest comes first.
#[utoipa::path(
    get, path = "/api/mcp-servers", operation_id = "listMcpServers", tag = "tools",
    params(PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<McpServer>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<McpServer>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::mcp_server)))
}

/// Read an MCP server
#[utoipa::path(
    get, path = "/api/mcp-servers/{slug}", operation_id = "getMcpServer", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The MCP server")),
    responses(
        (status = 200, description = "The MCP server", body = McpServer),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    McpServerSlug(slug): McpServerSlug,
) -> Result<Json<McpServer>, Problem> {
    let record = use_case::get(&state.ledger, caller.scope(), &slug).await?;
    Ok(Json(wire_map::mcp_server(record)))
}

/// Change an MCP server
///
/// Calls use the change at once. A server with secret headers can be moved to another address by admins alone.
#[utoipa::path(
    patch, path = "/api/mcp-servers/{slug}", operation_id = "updateMcpServer", tag = "tools",
    request_body = UpdateMcpServer,
    params(("slug" = wire::schema::Slug, Path, description = "The MCP server")),
    responses(
        (status = 200, description = "As it is now", body = McpServer),
        (
            status = 409, description = "`stale_version`: someone changed it since it was read",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn update(
    State(state): State<AppState>,
    caller: Caller,
    McpServerSlug(slug): McpServerSlug,
    JsonBody(body): JsonBody<UpdateMcpServer>,
) -> Result<Json<McpServer>, Problem> {
    let record = use_case::update(&state.ledger, caller.scope(), &slug, wire_map::mcp_server_change(body)).await?;
    Ok(Json(wire_map::mcp_server(record)))
}

/// Delete an MCP server
///
/// Its secret headers and its listed tools are deleted with it. Tools that call it stay, and their runs fail.
#[utoipa::path(
    delete, path = "/api/mcp-servers/{slug}", operation_id = "deleteMcpServer", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The MCP server")),
    responses(
        (status = 204, description = "Deleted"),
    ),
)]
pub async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    McpServerSlug(slug): McpServerSlug,
) -> Result<StatusCode, Problem> {
    use_case::delete(&state.ledger, caller.scope(), &slug).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ask an MCP server for its tools
///
/// Calls the server, stores the tools that it lists, and says what changed since it was asked before. Takes at most 20
/// seconds.
#[utoipa::path(
    post, path = "/api/mcp-servers/{slug}/refresh", operation_id = "refreshMcpServer", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The MCP server")),
    responses(
        (status = 200, description = "Its tools", body = McpTools),
        (
            status = 409, description = "`stale_version`: the server was changed meanwhile",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: the server gave no list; the error at `transport` says why",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn refresh(
    State(state): State<AppState>,
    caller: Caller,
    McpServerSlug(slug): McpServerSlug,
) -> Result<Json<McpTools>, Problem> {
    let record = runner::execute::mcp::refresh(&state.mcp, &state.ledger, caller.scope(), &slug).await?;
    Ok(Json(wire_map::mcp_tools(record)))
}

/// List the tools of an MCP server
///
/// Those that it listed when it was asked last. The server is not called.
#[utoipa::path(
    get, path = "/api/mcp-servers/{slug}/tools", operation_id = "listMcpTools", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The MCP server")),
    responses(
        (status = 200, description = "Its tools", body = McpTools),
    ),
)]
pub async fn tools(
    State(state): State<AppState>,
    caller: Caller,
    McpServerSlug(slug): McpServerSlug,
) -> Result<Json<McpTools>, Problem> {
    let record = use_case::listing(&state.ledger, caller.scope(), &slug).await?;
    Ok(Json(wire_map::mcp_tools(record)))
}

/// Import tools of an MCP server
///
/// Creates a draft of each listed tool, or replaces the working copy of a tool that was imported before by the listed
/// tool. Nothing is published.
#[utoipa::path(
    post, path = "/api/mcp-servers/{slug}/import", operation_id = "importMcpTools", tag = "tools",
    request_body = ImportMcpTools,
    params(("slug" = wire::schema::Slug, Path, description = "The MCP server")),
    responses(
        (status = 200, description = "The tools of the workspace", body = ImportedMcpTools),
    ),
)]
pub async fn import(
    State(state): State<AppState>,
    caller: Caller,
    McpServerSlug(slug): McpServerSlug,
    JsonBody(body): JsonBody<ImportMcpTools>,
) -> Result<Json<ImportedMcpTools>, Problem> {
    let imported = use_case::import(&state.ledger, caller.scope(), &slug, body.tools).await?;
    Ok(Json(ImportedMcpTools { tools: imported.into_iter().map(wire_map::tool).collect() }))
}
