//! Inputs of tools that people saved under a name.

use crate::{
    extract::{Caller, InputName, JsonBody, ToolSlug},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use ledger::tool_run as use_case;
use wire::tool_run::{SaveToolInput, SavedToolInput, SavedToolInputs};

/// List saved inputs
///
/// Those that the caller saved for the tool, by name. For people and tokens that act for a person.
#[utoipa::path(
    get, path = "/api/tools/{slug}/inputs", operation_id = "listToolInputs", tag = "tools",
    params(("slug" = wire::schema::Slug, Path, description = "The tool")),
    responses(
        (status = 200, description = "All of them", body = SavedToolInputs),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
) -> Result<Json<SavedToolInputs>, Problem> {
    let found = use_case::saved_inputs(&state.ledger, caller.scope(), &slug).await?;
    Ok(Json(SavedToolInputs { saved_inputs: found.into_iter().map(wire_map::saved_tool_input).collect() }))
}

/// Save an input
///
/// An input with this name is replaced. Values of private fields are left out. The fields need not be complete or
/// valid. For people and tokens that act for a person.
#[utoipa::path(
    put, path = "/api/tools/{slug}/inputs/{name}", operation_id = "saveToolInput", tag = "tools",
    params(
        ("slug" = wire::schema::Slug, Path, description = "The tool"),
        ("name" = wire::schema::Name, Path, description = "Name, unique among those of the person for the tool"),
    ),
    request_body = SaveToolInput,
    responses(
        (status = 200, description = "Saved", body = SavedToolInput),
        (
            status = 403, description = "`forbidden`: the caller is not in the tool's audience, or is a token that \
                acts for no one",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 409, description = "`wrong_status`: the tool is not published",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: `name` is no name, or `fields` is too large; \
                `limit_reached`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn save(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
    InputName(name): InputName,
    JsonBody(body): JsonBody<SaveToolInput>,
) -> Result<Json<SavedToolInput>, Problem> {
    let input = use_case::SaveInput { name, fields: body.fields };
    let saved = use_case::save_input(&state.ledger, caller.scope(), &slug, input).await?;
    Ok(Json(wire_map::saved_tool_input(saved)))
}

/// Delete a saved input
#[utoipa::path(
    delete, path = "/api/tools/{slug}/inputs/{name}", operation_id = "deleteToolInput", tag = "tools",
    params(
        ("slug" = wire::schema::Slug, Path, description = "The tool"),
        ("name" = wire::schema::Name, Path, description = "Name of an input that the caller saved"),
    ),
    responses(
        (status = 204, description = "Deleted"),
    ),
)]
pub async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    ToolSlug(slug): ToolSlug,
    InputName(name): InputName,
) -> Result<StatusCode, Problem> {
    use_case::delete_input(&state.ledger, caller.scope(), &slug, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
