//! Groups of people.

use crate::{
    extract::{Caller, Id, JsonBody},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::id::GroupId;
use ledger::group as use_case;
use wire::group::{CreateGroup, Group, Groups, UpdateGroup};

/// Create a group of people
#[utoipa::path(
    post, path = "/api/groups", operation_id = "createGroup", tag = "criteria", request_body = CreateGroup,
    responses(
        (status = 201, description = "Created", body = Group),
        (
            status = 409, description = "`name_taken`: the slug belongs to another group",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateGroup>,
) -> Result<(StatusCode, Json<Group>), Problem> {
    let record = use_case::create(&state.ledger, caller.scope(), wire_map::new_group(body)).await?;
    Ok((StatusCode::CREATED, Json(wire_map::group(record))))
}

/// List the groups of people
///
/// All groups with their members, sorted by name. A workspace has at most 200 groups.
#[utoipa::path(
    get, path = "/api/groups", operation_id = "listGroups", tag = "criteria",
    responses(
        (status = 200, description = "All groups", body = Groups),
    ),
)]
pub async fn list(State(state): State<AppState>, caller: Caller) -> Result<Json<Groups>, Problem> {
    let groups = use_case::list(&state.ledger, caller.scope()).await?;
    Ok(Json(Groups { groups: groups.into_iter().map(wire_map::group).collect() }))
}

/// Read a group
#[utoipa::path(
    get, path = "/api/groups/{id}", operation_id = "getGroup", tag = "criteria",
    params(("id" = uuid::Uuid, Path, description = "The group")),
    responses(
        (status = 200, description = "The group", body = Group),
    ),
)]
pub async fn get(State(state): State<AppState>, caller: Caller, Id(id): Id<GroupId>) -> Result<Json<Group>, Problem> {
    Ok(Json(wire_map::group(use_case::get(&state.ledger, caller.scope(), id).await?)))
}

/// Change a group
///
/// Adds and removes single members. Only members of the workspace can be added.
#[utoipa::path(
    patch, path = "/api/groups/{id}", operation_id = "updateGroup", tag = "criteria", request_body = UpdateGroup,
    params(("id" = uuid::Uuid, Path, description = "The group")),
    responses(
        (status = 200, description = "As it is now", body = Group),
    ),
)]
pub async fn update(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<GroupId>,
    JsonBody(body): JsonBody<UpdateGroup>,
) -> Result<Json<Group>, Problem> {
    let record = use_case::update(&state.ledger, caller.scope(), id, wire_map::group_change(body)).await?;
    Ok(Json(wire_map::group(record)))
}
