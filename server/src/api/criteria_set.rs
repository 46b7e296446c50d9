//! Criteria sets: the dimensions by which outputs are rated.

use crate::{
    extract::{Caller, Id, JsonBody, PageQuery, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::id::CriteriaSetId;
use ledger::criteria_set as use_case;
use serde::Deserialize;
use wire::{
    Page,
    criteria_set::{CreateCriteriaSet, CriteriaSet, UpdateCriteriaSet},
};

/// Create a criteria set
#[utoipa::path(
    post, path = "/api/criteria-sets", operation_id = "createCriteriaSet", tag = "criteria",
    request_body = CreateCriteriaSet,
    responses(
        (status = 201, description = "Created", body = CriteriaSet),
        (
            status = 409, description = "`name_taken`: the slug belongs to another criteria set",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateCriteriaSet>,
) -> Result<(StatusCode, Json<CriteriaSet>), Problem> {
    let record = use_case::create(&state.ledger, caller.scope(), wire_map::new_criteria_set(body)).await?;
    Ok((StatusCode::CREATED, Json(wire_map::criteria_set(record))))
}

/// List criteria sets
///
/// Each at its newest version. The newest set comes first.
#[utoipa::path(
    get, path = "/api/criteria-sets", operation_id = "listCriteriaSets", tag = "criteria",
    params(PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<CriteriaSet>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<CriteriaSet>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::criteria_set)))
}

/// The query of [`get`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetQuery {
    /// Version to read; default the newest.
    #[param(minimum = 1)]
    version: Option<u64>,
}

/// Read a criteria set
#[utoipa::path(
    get, path = "/api/criteria-sets/{id}", operation_id = "getCriteriaSet", tag = "criteria",
    params(("id" = uuid::Uuid, Path, description = "The criteria set"), GetQuery),
    responses(
        (status = 200, description = "The criteria set", body = CriteriaSet),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<CriteriaSetId>,
    Params(query): Params<GetQuery>,
) -> Result<Json<CriteriaSet>, Problem> {
    let record = use_case::get(&state.ledger, caller.scope(), id, query.version).await?;
    Ok(Json(wire_map::criteria_set(record)))
}

/// List the versions of a criteria set
///
/// Newest first. Every version is kept.
#[utoipa::path(
    get, path = "/api/criteria-sets/{id}/versions", operation_id = "listCriteriaSetVersions", tag = "criteria",
    params(("id" = uuid::Uuid, Path, description = "The criteria set"), PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<CriteriaSet>),
    ),
)]
pub async fn versions(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<CriteriaSetId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<CriteriaSet>>, Problem> {
    let listed = use_case::list_versions(&state.ledger, caller.scope(), id, query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::criteria_set)))
}

/// Change a criteria set
///
/// Replaces all dimensions. A change creates a new version, and earlier versions remain readable. A request that
/// changes nothing creates no version.
#[utoipa::path(
    patch, path = "/api/criteria-sets/{id}", operation_id = "updateCriteriaSet",
    tag = "criteria", request_body = UpdateCriteriaSet,
    params(("id" = uuid::Uuid, Path, description = "The criteria set")),
    responses(
        (status = 200, description = "As it is now", body = CriteriaSet),
        (
            status = 409, description = "`stale_version`: someone changed it since it was read",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn update(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<CriteriaSetId>,
    JsonBody(body): JsonBody<UpdateCriteriaSet>,
) -> Result<Json<CriteriaSet>, Problem> {
    let change = wire_map::criteria_set_change(body);
    let record = use_case::update(&state.ledger, caller.scope(), id, change).await?;
    Ok(Json(wire_map::criteria_set(record)))
}
