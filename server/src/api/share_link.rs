//! Links with which people without an account read one session.

use crate::{
    extract::{Caller, Id, JsonBodyOrDefault, Limit, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use domain::id::{SessionId, ShareLinkId};
use ledger::{ListPage, share_link as use_case};
use serde::Deserialize;
use wire::{
    Page,
    share_link::{CreateShareLink, CreatedShareLink, ShareLink, ShareLinks},
};

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

/// Make a link to a session
///
/// For the person whose session it is, and for admins; tokens cannot. The body is optional. The answer contains the
/// address with the link's secret, which is not shown again. Whoever has it reads the session without an account.
/// Private sessions and answers to forms cannot be shared.
#[utoipa::path(
    post, path = "/api/sessions/{id}/share-links", operation_id = "createShareLink", tag = "sessions",
    request_body = Option<CreateShareLink>,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 201, description = "Made", body = CreatedShareLink),
        (
            status = 403, description = "`forbidden`: the caller may not share this session, or no one may",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
    Id(id): Id<SessionId>,
    JsonBodyOrDefault(body): JsonBodyOrDefault<CreateShareLink>,
) -> Result<(StatusCode, Json<CreatedShareLink>), Problem> {
    let (link, secret) = use_case::create(&state.ledger, caller.scope(), id, body.days).await?;
    let url = format!("{}/s/{secret}", state.origin(&headers));
    Ok((StatusCode::CREATED, Json(CreatedShareLink { link: wire_map::share_link(link), url })))
}

/// List the links to a session
///
/// Those that the caller made; all for admins.
#[utoipa::path(
    get, path = "/api/sessions/{id}/share-links", operation_id = "listShareLinksOfSession", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The newest 100", body = ShareLinks),
    ),
)]
pub async fn list_of_session(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<ShareLinks>, Problem> {
    let links = use_case::of_session(&state.ledger, caller.scope(), id).await?;
    Ok(Json(ShareLinks { links: links.into_iter().map(wire_map::share_link).collect() }))
}

/// List links to sessions
///
/// Those that the caller made; all of the workspace for admins. Newest first, whether they work or not.
#[utoipa::path(
    get, path = "/api/share-links", operation_id = "listShareLinks", tag = "sessions",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<ShareLink>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<ShareLink>>, Problem> {
    let page = ListPage { limit: query.limit.0, cursor: query.cursor };
    let listed = use_case::list(&state.ledger, caller.scope(), page).await?;
    Ok(Json(wire_map::page(listed, wire_map::share_link)))
}

/// Revoke a link to a session
///
/// For whoever made it, and for admins. Browsers that opened it earlier cannot read the session any more.
#[utoipa::path(
    delete, path = "/api/share-links/{id}", operation_id = "revokeShareLink", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The link")),
    responses(
        (status = 204, description = "Revoked"),
    ),
)]
pub async fn revoke(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ShareLinkId>,
) -> Result<StatusCode, Problem> {
    use_case::revoke(&state.ledger, caller.scope(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}
