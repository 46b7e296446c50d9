//! Links with which people without an account run one tool.

use crate::{
    extract::{Caller, Id, JsonBodyOrDefault, ToolSlug},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use domain::id::ToolLinkId;
use ledger::tool_link as use_case;
use wire::tool_link::{CreateToolLink, CreatedToolLink, ToolLinks};

/// Make a link to a tool
///
/// For operators and admins; tokens cannot. The body is optional. The answer contains the address with the link's
/// secret, which is not shown again. Whoever has it runs the tool without an account and reads the results of their own
/// runs. The audience of the published version must have `link`.
#[utoipa::path(
    post, path = "/api/tools/{slug}/links", operation_id = "createToolLink", tag = "tools",
    request_body = Option<CreateToolLink>,
    params(("slug" = wire::schema::Slug, Path, description = "The tool")),
    responses(
        (status = 201, description = "Made", body = CreatedToolLink),
        (
            status = 403, description = "`forbidden`: the caller makes no links, or the tool does not allow them",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`wrong_state`: the tool is not published",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    ToolSlug(slug): ToolSlug,
    JsonBodyOrDefault(body): JsonBodyOrDefault<CreateToolLink>,
) -> Result<(StatusCode, Json<CreatedToolLink>), Problem> {
    let (link, secret) = use_case::create(&state.ledger, caller.scope(), &slug, body.days).await?;
    let url = format!("{}/r/{secret}", state.origin(&headers));
    Ok((StatusCode::CREATED, Json(CreatedToolLink { link: wire_map::tool_link(link), url })))
}

/// List the links to a tool
///
/// For operators and admins. Newest first, whether they work or not.
#[utoipa::path(
    get, path = "/api/tools/{slug}/links", operation_id = "listToolLinks", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The tool")),
    responses(
        (status = 200, description = "The newest 100, and older ones that work", body = ToolLinks),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
) -> Result<Json<ToolLinks>, Problem> {
    let links = use_case::list(&state.ledger, caller.scope(), &slug).await?;
    Ok(Json(ToolLinks { links: links.into_iter().map(wire_map::tool_link).collect() }))
}

/// Revoke a link to a tool
///
/// For operators and admins. Browsers that opened it earlier begin no run and read no result any more.
#[utoipa::path(
    delete, path = "/api/tool-links/{id}", operation_id = "revokeToolLink", tag = "tools",
    params(("id" = uuid::Uuid, Path, description = "The link")),
    responses(
        (status = 204, description = "Revoked"),
    ),
)]
pub async fn revoke(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ToolLinkId>,
) -> Result<StatusCode, Problem> {
    use_case::revoke(&state.ledger, caller.scope(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}
