//! Search lines that people saved under a name.

use crate::{
    extract::{Caller, Id, JsonBody},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::id::SavedSearchId;
use ledger::search as use_case;
use wire::search::{RenameSearch, SaveSearch, SavedSearch, SavedSearches};

/// List saved searches
///
/// Those that the caller saved and those that are shared, by name. For people and tokens that act for a person.
#[utoipa::path(
    get, path = "/api/saved-searches", operation_id = "listSavedSearches", tag = "sessions",
    responses(
        (status = 200, description = "All of them", body = SavedSearches),
    ),
)]
pub async fn list(State(state): State<AppState>, caller: Caller) -> Result<Json<SavedSearches>, Problem> {
    let found = use_case::saved(&state.ledger, caller.scope()).await?;
    Ok(Json(SavedSearches { saved_searches: found.into_iter().map(wire_map::saved_search).collect() }))
}

/// Save a search
///
/// The line is saved in its canonical form. Days such as `after:fri` and `by:me` are those of whoever uses it. To save
/// the same line again under the same name changes nothing. Operators and admins can share a search with everyone in
/// the workspace.
#[utoipa::path(
    post, path = "/api/saved-searches", operation_id = "saveSearch", tag = "sessions",
    request_body = SaveSearch,
    responses(
        (status = 201, description = "Saved", body = SavedSearch),
        (
            status = 409, description = "`name_taken`: the person saved another search under this name",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: `name` is no name, or `q` no search line; `limit_reached`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<SaveSearch>,
) -> Result<(StatusCode, Json<SavedSearch>), Problem> {
    let new = wire_map::new_saved_search(body);
    let saved = use_case::save(&state.ledger, caller.scope(), new).await?;
    Ok((StatusCode::CREATED, Json(wire_map::saved_search(saved))))
}

/// Rename a saved search
///
/// One of the caller's own, or a shared one. Shared searches of others are renamed by operators and admins.
#[utoipa::path(
    patch, path = "/api/saved-searches/{id}", operation_id = "renameSavedSearch", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The saved search")),
    request_body = RenameSearch,
    responses(
        (status = 200, description = "Renamed", body = SavedSearch),
        (
            status = 409, description = "`name_taken`: the person who saved it has another search under this name",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: `name` is no name",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn rename(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SavedSearchId>,
    JsonBody(body): JsonBody<RenameSearch>,
) -> Result<Json<SavedSearch>, Problem> {
    let renamed = use_case::rename_saved(&state.ledger, caller.scope(), id, body.name).await?;
    Ok(Json(wire_map::saved_search(renamed)))
}

/// Delete a saved search
///
/// One of the caller's own, or a shared one. Shared searches of others are deleted by operators and admins.
#[utoipa::path(
    delete, path = "/api/saved-searches/{id}", operation_id = "deleteSavedSearch", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The saved search")),
    responses(
        (status = 204, description = "Deleted"),
    ),
)]
pub async fn delete(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SavedSearchId>,
) -> Result<StatusCode, Problem> {
    use_case::delete_saved(&state.ledger, caller.scope(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}
