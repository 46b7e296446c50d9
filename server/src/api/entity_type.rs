//! Entity types: the fields of entities.

use crate::{
    extract::{Caller, Id, JsonBody, PageQuery, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::id::EntityTypeId;
use ledger::entity_type as use_case;
use wire::{
    Page,
    entity::{CreateEntityType, EntityType, UpdateEntityType},
};

/// Create an entity type
#[utoipa::path(
    post, path = "/api/entity-types", operation_id = "createEntityType", tag = "entities",
    request_body = CreateEntityType,
    responses(
        (status = 201, description = "Created", body = EntityType),
        (
            status = 409, description = "`name_taken`: the slug belongs to another entity type",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateEntityType>,
) -> Result<(StatusCode, Json<EntityType>), Problem> {
    let record = use_case::create(&state.ledger, caller.scope(), wire_map::new_entity_type(body)).await?;
    Ok((StatusCode::CREATED, Json(wire_map::entity_type(record))))
}

/// List entity types
#[utoipa::path(
    get, path = "/api/entity-types", operation_id = "listEntityTypes", tag = "entities",
    params(PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<EntityType>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<EntityType>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::entity_type)))
}

/// Read an entity type
#[utoipa::path(
    get, path = "/api/entity-types/{id}", operation_id = "getEntityType", tag = "entities",
    params(("id" = uuid::Uuid, Path, description = "The entity type")),
    responses(
        (status = 200, description = "The entity type", body = EntityType),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<EntityTypeId>,
) -> Result<Json<EntityType>, Problem> {
    Ok(Json(wire_map::entity_type(use_case::get(&state.ledger, caller.scope(), id).await?)))
}

/// Change an entity type
///
/// Replaces all fields. Entities keep their values. They are checked against the new fields when they are next written.
#[utoipa::path(
    patch, path = "/api/entity-types/{id}", operation_id = "updateEntityType",
    tag = "entities", request_body = UpdateEntityType,
    params(("id" = uuid::Uuid, Path, description = "The entity type")),
    responses(
        (status = 200, description = "As it is now", body = EntityType),
        (
            status = 409, description = "`stale_version`: someone changed it since it was read",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn update(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<EntityTypeId>,
    JsonBody(body): JsonBody<UpdateEntityType>,
) -> Result<Json<EntityType>, Problem> {
    let record = use_case::update(&state.ledger, caller.scope(), id, wire_map::entity_type_change(body)).await?;
    Ok(Json(wire_map::entity_type(record)))
}
