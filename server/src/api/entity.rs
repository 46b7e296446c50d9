//! Entities: the records that sessions are about.

use crate::{
    extract::{Caller, Id, JsonBody, Limit, PageQuery, Params, query_id},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::id::{EntityId, EntityTypeId};
use ledger::entity as use_case;
use serde::Deserialize;
use wire::{
    Page,
    entity::{CreateEntity, Entity, EntitySessions, EntityVersion, UpdateEntity},
};

/// Create an entity
#[utoipa::path(
    post, path = "/api/entities", operation_id = "createEntity", tag = "entities", request_body = CreateEntity,
    responses(
        (status = 201, description = "Created, at version 1", body = Entity),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateEntity>,
) -> Result<(StatusCode, Json<Entity>), Problem> {
    let record = use_case::create(&state.ledger, caller.scope(), wire_map::new_entity(body)).await?;
    Ok((StatusCode::CREATED, Json(wire_map::entity(record))))
}

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// Entities of this type.
    #[serde(default, deserialize_with = "query_id")]
    #[param(value_type = Option<uuid::Uuid>)]
    type_id: Option<EntityTypeId>,
    /// Words that the title or the values have, and `title:` with a part of the title. A minus excludes. Another field
    /// is refused. One page compares at most 20,000 entities: it can have few entries or none, and still have a
    /// `nextCursor`.
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

/// List entities
///
/// Newest first, without those that are erased.
#[utoipa::path(
    get, path = "/api/entities", operation_id = "listEntities", tag = "entities",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<Entity>),
        (
            status = 422, description = "`invalid_request`: `q` is no search; the message names the place",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<Entity>>, Problem> {
    let wanted = use_case::ListEntities {
        type_id: query.type_id,
        title_contains: None,
        line: query.q,
        limit: query.limit.0,
        cursor: query.cursor,
    };
    let listed = use_case::list(&state.ledger, caller.scope(), wanted).await?;
    Ok(Json(wire_map::page(listed, wire_map::entity)))
}

/// Read an entity
#[utoipa::path(
    get, path = "/api/entities/{id}", operation_id = "getEntity", tag = "entities",
    params(("id" = uuid::Uuid, Path, description = "The entity")),
    responses(
        (status = 200, description = "The entity, at its newest version", body = Entity),
    ),
)]
pub async fn get(State(state): State<AppState>, caller: Caller, Id(id): Id<EntityId>) -> Result<Json<Entity>, Problem> {
    Ok(Json(wire_map::entity(use_case::get(&state.ledger, caller.scope(), id).await?)))
}

/// Change an entity
///
/// Absent fields keep their values; `null` clears a field. A request that changes nothing creates no version.
#[utoipa::path(
    patch, path = "/api/entities/{id}", operation_id = "updateEntity", tag = "entities", request_body = UpdateEntity,
    params(("id" = uuid::Uuid, Path, description = "The entity")),
    responses(
        (status = 200, description = "As it is now", body = Entity),
        (
            status = 409,
            description = "`stale_version`: someone wrote a newer version since it was read; `wrong_status`: it is erased",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn update(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<EntityId>,
    JsonBody(body): JsonBody<UpdateEntity>,
) -> Result<Json<Entity>, Problem> {
    let record = use_case::update(&state.ledger, caller.scope(), id, wire_map::entity_change(body)).await?;
    Ok(Json(wire_map::entity(record)))
}

/// Erase an entity
///
/// Erases its title and values, those of all its versions, and the name of a lead at the questions that they answered.
/// It cannot be undone. The tombstone stays: id, type, versions with their authors and times, `erasedAt`, and who
/// erased it as `updatedBy`. It takes no new version and is in no list. The same call again changes nothing. Only
/// admins may do this.
#[utoipa::path(
    post, path = "/api/entities/{id}/erase", operation_id = "eraseEntity", tag = "entities",
    params(("id" = uuid::Uuid, Path, description = "The entity")),
    responses(
        (status = 200, description = "The tombstone", body = Entity),
    ),
)]
pub async fn erase(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<EntityId>,
) -> Result<Json<Entity>, Problem> {
    Ok(Json(wire_map::entity(use_case::erase(&state.ledger, caller.scope(), id).await?)))
}

/// List the versions of an entity
///
/// Newest first. Every version is kept. The content of an erased entity's versions is erased.
#[utoipa::path(
    get, path = "/api/entities/{id}/versions", operation_id = "listEntityVersions", tag = "entities",
    params(("id" = uuid::Uuid, Path, description = "The entity"), PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<EntityVersion>),
    ),
)]
pub async fn versions(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<EntityId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<EntityVersion>>, Problem> {
    let listed = use_case::list_versions(&state.ledger, caller.scope(), id, query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::entity_version)))
}

/// The query of [`sessions`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionsQuery {
    /// At least 1; default 20. More than 100 counts as 100.
    #[param(value_type = Option<wire::schema::EntitySessionsLimit>)]
    limit: Option<u32>,
    /// Leave out sessions that another session started.
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    parents_only: bool,
}

/// List the sessions about an entity
///
/// Newest first, with a few fields each: sessions of actions whose target was this entity when the session was created,
/// and the sessions that those started.
#[utoipa::path(
    get, path = "/api/entities/{id}/sessions", operation_id = "listEntitySessions", tag = "entities",
    params(("id" = uuid::Uuid, Path, description = "The entity"), SessionsQuery),
    responses(
        (status = 200, description = "The newest sessions", body = EntitySessions),
    ),
)]
pub async fn sessions(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<EntityId>,
    Params(query): Params<SessionsQuery>,
) -> Result<Json<EntitySessions>, Problem> {
    let (limit, parents_only) = (query.limit, query.parents_only);
    let found = use_case::list_sessions(&state.ledger, caller.scope(), id, limit, parents_only).await?;
    Ok(Json(EntitySessions { sessions: found.into_iter().map(wire_map::entity_session).collect() }))
}
