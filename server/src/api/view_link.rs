//! Links to forms, for people without an account.

use crate::{
    embed_snippet::snippet,
    extract::{Caller, Id, JsonBodyOrDefault},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use domain::id::{ViewId, ViewLinkId};
use ledger::{ViewLinkRecord, view_link as use_case};
use wire::response::{CreateViewLink, CreatedViewLink, ViewLinks};

/// Make a link to a form
///
/// The body is optional. The answer contains the addresses with the link's secret, which is not shown again.
#[utoipa::path(
    post, path = "/api/views/{id}/links", operation_id = "createViewLink", tag = "responses",
    request_body = Option<CreateViewLink>,
    params(("id" = uuid::Uuid, Path, description = "The view")),
    responses(
        (status = 201, description = "Made", body = CreatedViewLink),
        (
            status = 409, description = "`wrong_status`: the form was never published",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    Id(id): Id<ViewId>,
    JsonBodyOrDefault(body): JsonBodyOrDefault<CreateViewLink>,
) -> Result<(StatusCode, Json<CreatedViewLink>), Problem> {
    let new = use_case::NewViewLink { request_id: body.request_id, days: body.days, note: body.note };
    let (link, secret) = use_case::create_noted(&state.ledger, caller.scope(), id, new).await?;
    Ok((StatusCode::CREATED, Json(created(link, &secret, &state.origin(&headers)))))
}

/// The link with the addresses that have its secret.
fn created(link: ViewLinkRecord, secret: &str, origin: &str) -> CreatedViewLink {
    CreatedViewLink {
        link: wire_map::view_link(link),
        url: format!("{origin}/f/{secret}"),
        embed_url: format!("{origin}/embed/{secret}"),
        snippet: snippet(origin, secret),
    }
}

/// List the links to a form
#[utoipa::path(
    get, path = "/api/views/{id}/links", operation_id = "listViewLinks", tag = "responses",
    params(("id" = uuid::Uuid, Path, description = "The view")),
    responses(
        (status = 200, description = "Those that work", body = ViewLinks),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ViewId>,
) -> Result<Json<ViewLinks>, Problem> {
    let links = use_case::list(&state.ledger, caller.scope(), id).await?;
    Ok(Json(ViewLinks { links: links.into_iter().map(wire_map::view_link).collect() }))
}

/// Revoke a link to a form
///
/// Browsers that opened it earlier cannot answer the form any more.
#[utoipa::path(
    delete, path = "/api/view-links/{id}", operation_id = "revokeViewLink", tag = "responses",
    params(("id" = uuid::Uuid, Path, description = "The link")),
    responses(
        (status = 204, description = "Revoked"),
    ),
)]
pub async fn revoke(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ViewLinkId>,
) -> Result<StatusCode, Problem> {
    use_case::revoke(&state.ledger, caller.scope(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}
