//! Views: input forms, their publication and their versions.

use crate::{
    extract::{Caller, Id, JsonBody, JsonBodyOrDefault, Limit, PageQuery, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::{
    id::ViewId,
    view::{FormSchema, to_schema},
};
use ledger::{ListPage, view as use_case};
use serde::Deserialize;
use wire::{
    Code, Page,
    view::{CreateView, PublishView, UpdateView, View, ViewVersion},
};

/// Create a view
///
/// Creates a draft. No one can answer it before it is published.
#[utoipa::path(
    post, path = "/api/views", operation_id = "createView", tag = "views",
    request_body = CreateView,
    responses(
        (status = 201, description = "Created", body = View),
        (
            status = 409, description = "`name_taken`: the slug belongs to another view",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateView>,
) -> Result<(StatusCode, Json<View>), Problem> {
    let record = use_case::create(&state.ledger, caller.scope(), wire_map::new_view(body)?).await?;
    Ok((StatusCode::CREATED, Json(wire_map::view(record))))
}

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// Only the view with this slug.
    #[param(value_type = Option<wire::schema::Slug>)]
    slug: Option<String>,
    /// Words that the slug, the title or the introduction has, and `title:` with a part of the title. A minus excludes.
    /// Another field is refused. Not together with `slug`.
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

/// List views
///
/// Each with its working copy. The newest view comes first. Views that were made for one question of an agent are not
/// listed.
#[utoipa::path(
    get, path = "/api/views", operation_id = "listViews", tag = "views",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<View>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<View>>, Problem> {
    let page = ListPage { limit: query.limit.0, cursor: query.cursor };
    let (ledger, scope) = (&state.ledger, caller.scope());
    let listed = match (query.slug, query.q) {
        (Some(_), Some(_)) => return Err(Problem::field(Code::InvalidRequest, "q", "not together with slug")),
        (Some(slug), None) => use_case::list_by_slug(ledger, scope, &slug, page).await?,
        (None, line) => use_case::list_matching(ledger, scope, line.as_deref(), page).await?,
    };
    Ok(Json(wire_map::page(listed, wire_map::view)))
}

/// Read a view
#[utoipa::path(
    get, path = "/api/views/{id}", operation_id = "getView", tag = "views",
    params(("id" = uuid::Uuid, Path, description = "The view")),
    responses(
        (status = 200, description = "The view with its working copy", body = View),
    ),
)]
pub async fn get(State(state): State<AppState>, caller: Caller, Id(id): Id<ViewId>) -> Result<Json<View>, Problem> {
    let record = use_case::get(&state.ledger, caller.scope(), id).await?;
    Ok(Json(wire_map::view(record)))
}

/// Change a view
///
/// Changes the working copy. What is published stays as it is until the view is published again. A request that
/// changes nothing creates no revision.
#[utoipa::path(
    patch, path = "/api/views/{id}", operation_id = "updateView", tag = "views", request_body = UpdateView,
    params(("id" = uuid::Uuid, Path, description = "The view")),
    responses(
        (status = 200, description = "As it is now", body = View),
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
    Id(id): Id<ViewId>,
    JsonBody(body): JsonBody<UpdateView>,
) -> Result<Json<View>, Problem> {
    let record = use_case::update(&state.ledger, caller.scope(), id, wire_map::view_change(body)?).await?;
    Ok(Json(wire_map::view(record)))
}

/// Delete a draft
#[utoipa::path(
    delete, path = "/api/views/{id}", operation_id = "deleteView", tag = "views",
    params(("id" = uuid::Uuid, Path, description = "The view")),
    responses(
        (status = 204, description = "Deleted"),
        (
            status = 409, description = "`wrong_status`: it was published, and responses name its versions",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn delete(State(state): State<AppState>, caller: Caller, Id(id): Id<ViewId>) -> Result<StatusCode, Problem> {
    use_case::delete(&state.ledger, caller.scope(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Publish a view
///
/// Makes the working copy the newest version, which takes responses from now on. If the newest version is the same, no
/// version is added.
#[utoipa::path(
    post, path = "/api/views/{id}/publish", operation_id = "publishView", tag = "views",
    request_body = Option<PublishView>,
    params(("id" = uuid::Uuid, Path, description = "The view")),
    responses(
        (status = 200, description = "Published", body = View),
        (
            status = 409, description = "`stale_version`: someone changed it since it was read",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn publish(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ViewId>,
    JsonBodyOrDefault(body): JsonBodyOrDefault<PublishView>,
) -> Result<Json<View>, Problem> {
    let record = use_case::publish(&state.ledger, caller.scope(), id, body.revision).await?;
    Ok(Json(wire_map::view(record)))
}

/// Unpublish a view
///
/// The view takes no responses until it is published again. Its versions and responses stay. A repeat changes nothing.
#[utoipa::path(
    post, path = "/api/views/{id}/unpublish", operation_id = "unpublishView", tag = "views",
    params(("id" = uuid::Uuid, Path, description = "The view")),
    responses(
        (status = 200, description = "Unpublished", body = View),
        (
            status = 409, description = "`wrong_status`: it was never published",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn unpublish(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ViewId>,
) -> Result<Json<View>, Problem> {
    let record = use_case::unpublish(&state.ledger, caller.scope(), id).await?;
    Ok(Json(wire_map::view(record)))
}

/// List the versions of a view
///
/// Newest first. Every version is kept.
#[utoipa::path(
    get, path = "/api/views/{id}/versions", operation_id = "listViewVersions", tag = "views",
    params(("id" = uuid::Uuid, Path, description = "The view"), PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<ViewVersion>),
    ),
)]
pub async fn versions(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ViewId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<ViewVersion>>, Problem> {
    let listed = use_case::list_versions(&state.ledger, caller.scope(), id, query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::view_version)))
}

/// The query of [`schema`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SchemaQuery {
    /// A published version; default the working copy.
    #[param(minimum = 1)]
    version: Option<u64>,
}

/// Read the JSON Schema of a view
///
/// JSON Schema 2020-12 of the answers. Properties are in the order of the form. Fields that the form does not show are
/// left out.
#[utoipa::path(
    get, path = "/api/views/{id}/schema", operation_id = "getViewSchema", tag = "views",
    params(("id" = uuid::Uuid, Path, description = "The view"), SchemaQuery),
    responses(
        (status = 200, description = "The schema", body = wire::schema::ExportedSchema),
    ),
)]
pub async fn schema(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ViewId>,
    Params(query): Params<SchemaQuery>,
) -> Result<Json<FormSchema>, Problem> {
    let fields = match query.version {
        Some(version) => use_case::get_version(&state.ledger, caller.scope(), id, version).await?.fields,
        None => use_case::get(&state.ledger, caller.scope(), id).await?.fields,
    };
    Ok(Json(to_schema(&fields)))
}
