//! Tools: their definitions, versions and secrets.

use crate::{
    extract::{Caller, JsonBody, JsonBodyOrDefault, Limit, NewSecretName, PageQuery, Params, SecretName, ToolSlug},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use ledger::{
    ListPage,
    tool::{self as use_case, NewSecret},
};
use serde::Deserialize;
use wire::{
    Page,
    tool::{CreateTool, PublishTool, SetToolSecret, Tool, ToolSecrets, ToolVersion, UpdateTool},
};

/// Create a tool
///
/// Creates a draft. No one can run it before it is published.
#[utoipa::path(
    post, path = "/api/tools", operation_id = "createTool", tag = "tools",
    request_body = CreateTool,
    responses(
        (status = 201, description = "Created", body = Tool),
        (
            status = 409, description = "`name_taken`: the slug belongs to another tool",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateTool>,
) -> Result<(StatusCode, Json<Tool>), Problem> {
    let record = use_case::create(&state.ledger, caller.scope(), wire_map::new_tool(body)).await?;
    Ok((StatusCode::CREATED, Json(wire_map::tool(record))))
}

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// Words that the slug, the name or the description has, and `title:` with a part of the name. A minus excludes.
    /// Another field is refused.
    #[param(value_type = Option<wire::schema::SearchLine>)]
    q: Option<String>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

/// List tools
///
/// Each with its working copy. The newest tool comes first.
#[utoipa::path(
    get, path = "/api/tools", operation_id = "listTools", tag = "tools",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<Tool>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<Tool>>, Problem> {
    let page = ListPage { limit: query.limit.0, cursor: query.cursor };
    let listed = use_case::list_matching(&state.ledger, caller.scope(), query.q.as_deref(), page).await?;
    Ok(Json(wire_map::page(listed, wire_map::tool)))
}

/// Read a tool
#[utoipa::path(
    get, path = "/api/tools/{slug}", operation_id = "getTool", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The tool")),
    responses(
        (status = 200, description = "The tool with its working copy", body = Tool),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
) -> Result<Json<Tool>, Problem> {
    let record = use_case::get(&state.ledger, caller.scope(), &slug).await?;
    Ok(Json(wire_map::tool(record)))
}

/// Change a tool
///
/// Changes the working copy. What is published stays as it is until the tool is published again. A request that
/// changes nothing creates no revision.
#[utoipa::path(
    patch, path = "/api/tools/{slug}", operation_id = "updateTool", tag = "tools", request_body = UpdateTool,
    params(("slug" = wire::schema::Slug, Path, description = "The tool")),
    responses(
        (status = 200, description = "As it is now", body = Tool),
        (
            status = 409, description = "`stale_version`: someone changed it since it was read; `detail` names the \
                revision that it has now",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn update(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
    JsonBody(body): JsonBody<UpdateTool>,
) -> Result<Json<Tool>, Problem> {
    let record = use_case::update(&state.ledger, caller.scope(), &slug, wire_map::tool_change(body)).await?;
    Ok(Json(wire_map::tool(record)))
}

/// Delete a draft of a tool
///
/// Its secrets are deleted with it.
#[utoipa::path(
    delete, path = "/api/tools/{slug}", operation_id = "deleteTool", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The tool")),
    responses(
        (status = 204, description = "Deleted"),
        (
            status = 409, description = "`wrong_status`: it was published, and runs name its versions",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
) -> Result<StatusCode, Problem> {
    use_case::delete(&state.ledger, caller.scope(), &slug).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Publish a tool
///
/// Makes the working copy the newest version, which new runs use from now on. If the newest version is the same, no
/// version is added.
#[utoipa::path(
    post, path = "/api/tools/{slug}/publish", operation_id = "publishTool", tag = "tools",
    request_body = Option<PublishTool>,
    params(("slug" = wire::schema::Slug, Path, description = "The tool")),
    responses(
        (status = 200, description = "Published", body = Tool),
        (
            status = 403, description = "`forbidden`: the caller may not change tools, or the tool has secrets, its call \
                differs from that of the newest version, and the caller is no admin",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`stale_version`: someone changed it since it was read",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn publish(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
    JsonBodyOrDefault(body): JsonBodyOrDefault<PublishTool>,
) -> Result<Json<Tool>, Problem> {
    let record = use_case::publish(&state.ledger, caller.scope(), &slug, body.revision).await?;
    Ok(Json(wire_map::tool(record)))
}

/// Unpublish a tool
///
/// The tool starts no new runs until it is published again. Its versions and runs stay. A repeat changes nothing.
#[utoipa::path(
    post, path = "/api/tools/{slug}/unpublish", operation_id = "unpublishTool", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The tool")),
    responses(
        (status = 200, description = "Unpublished", body = Tool),
        (
            status = 409, description = "`wrong_status`: it was never published",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn unpublish(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
) -> Result<Json<Tool>, Problem> {
    let record = use_case::unpublish(&state.ledger, caller.scope(), &slug).await?;
    Ok(Json(wire_map::tool(record)))
}

/// List the versions of a tool
///
/// Newest first. Every version is kept.
#[utoipa::path(
    get, path = "/api/tools/{slug}/versions", operation_id = "listToolVersions", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The tool"), PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<ToolVersion>),
    ),
)]
pub async fn versions(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<ToolVersion>>, Problem> {
    let listed = use_case::list_versions(&state.ledger, caller.scope(), &slug, query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::tool_version)))
}

/// List the secrets of a tool
///
/// Their names, who set each and when, and the calls that get them: check these before you set one. Values are never
/// returned. For admins. A tool has at most 20 secrets.
#[utoipa::path(
    get, path = "/api/tools/{slug}/secrets", operation_id = "listToolSecrets", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The tool")),
    responses(
        (status = 200, description = "All secrets, sorted by name", body = ToolSecrets),
    ),
)]
pub async fn secrets(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
) -> Result<Json<ToolSecrets>, Problem> {
    listed_secrets(&state, &caller, &slug).await
}

async fn listed_secrets(state: &AppState, caller: &Caller, slug: &str) -> Result<Json<ToolSecrets>, Problem> {
    let secrets = use_case::secrets(&state.ledger, caller.scope(), slug).await?;
    let calls = use_case::secret_calls(&state.ledger, caller.scope(), slug).await?;
    Ok(Json(wire_map::tool_secrets(secrets, calls)))
}

/// Set a secret of a tool
///
/// Replaces an earlier value. Calls use the new value at once, those of versions that are published too. The value is
/// encrypted and never returned. `version` says which version published last you have read, so that the secret is not
/// sent with a call that was published meanwhile. The answer says where it is sent. For admins.
#[utoipa::path(
    put, path = "/api/tools/{slug}/secrets/{name}", operation_id = "setToolSecret", tag = "tools",
    request_body = SetToolSecret,
    params(
        ("slug" = wire::schema::Slug, Path, description = "The tool"),
        ("name" = wire::schema::ToolSecretName, Path, description = "The secret"),
    ),
    responses(
        (status = 200, description = "Set: all secrets, and the calls that get them", body = ToolSecrets),
        (
            status = 409, description = "`stale_version`: another version was published since `calls` was read",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`limit_reached`: the tool has 20 secrets; `invalid_request`: `errors` names the \
                fields",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn set_secret(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
    NewSecretName(name): NewSecretName,
    JsonBody(body): JsonBody<SetToolSecret>,
) -> Result<Json<ToolSecrets>, Problem> {
    let new = NewSecret { name, value: body.value, version: body.version };
    use_case::set_secret(&state.ledger, caller.scope(), &slug, new).await?;
    listed_secrets(&state, &caller, &slug).await
}

/// Delete a secret of a tool
///
/// Calls that need it fail from now on. For admins.
#[utoipa::path(
    delete, path = "/api/tools/{slug}/secrets/{name}", operation_id = "deleteToolSecret", tag = "tools",
    params(
        ("slug" = wire::schema::Slug, Path, description = "The tool"),
        ("name" = wire::schema::ToolSecretName, Path, description = "The secret"),
    ),
    responses(
        (status = 204, description = "Deleted"),
    ),
)]
pub async fn delete_secret(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
    SecretName(name): SecretName,
) -> Result<StatusCode, Problem> {
    use_case::delete_secret(&state.ledger, caller.scope(), &slug, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
