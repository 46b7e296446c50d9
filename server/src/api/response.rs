//! Responses to views.

use crate::{
    extract::{Caller, Id, JsonBody, Limit, Params, Sequence, query_id},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::{
    Timestamp,
    id::{SessionId, ViewId},
    response::ResponseStatus,
};
use ledger::{ListPage, Listed, ResponseRecord, response as use_case};
use serde::Deserialize;
use wire::{
    Page,
    response::{PromoteResponse, Response, SubmitInteraction, SubmittedInteraction},
};

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// Responses to this view.
    #[serde(default, deserialize_with = "query_id")]
    #[param(value_type = Option<uuid::Uuid>)]
    view_id: Option<ViewId>,
    /// Responses with this status.
    #[param(value_type = Option<wire::schema::ResponseStatus>)]
    status: Option<ResponseStatus>,
    /// `true`: responses of the caller.
    #[serde(default)]
    own: bool,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

/// The query of [`list_of_view`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfViewQuery {
    /// Responses with this status.
    #[param(value_type = Option<wire::schema::ResponseStatus>)]
    status: Option<ResponseStatus>,
    /// Responses to this version of the view.
    #[param(value_type = Option<u64>, minimum = 0, maximum = 9007199254740991_u64)]
    version: Option<Sequence>,
    /// Responses whose first save was at this time or later.
    #[param(value_type = Option<String>, format = DateTime)]
    created_from: Option<Timestamp>,
    /// Responses whose first save was before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    created_before: Option<Timestamp>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

impl OfViewQuery {
    /// The responses to this view that the query selects.
    fn of_view(self, id: ViewId) -> use_case::ListResponses {
        use_case::ListResponses {
            view_id: Some(id),
            status: self.status,
            own: false,
            version: self.version.map(|version| version.0),
            created_from: self.created_from,
            created_before: self.created_before,
            page: ListPage { limit: self.limit.0, cursor: self.cursor },
        }
    }
}

/// Converts a page of responses, with the leads that the caller may read.
async fn answered(state: &AppState, caller: &Caller, page: Listed<ResponseRecord>) -> Result<Page<Response>, Problem> {
    let leads = use_case::leads(&state.ledger, caller.scope(), &page.items).await?;
    Ok(wire_map::page(page, |response| wire_map::response_with(response, &leads)))
}

/// Converts a response, with its lead if the caller may read it.
async fn response_of(state: &AppState, caller: &Caller, mut response: ResponseRecord) -> Result<Response, Problem> {
    use_case::hide_lead(caller.scope(), &mut response);
    let leads = use_case::leads(&state.ledger, caller.scope(), std::slice::from_ref(&response)).await?;
    Ok(wire_map::response_with(response, &leads))
}

/// List responses
///
/// Newest first, of every view.
#[utoipa::path(
    get, path = "/api/responses", operation_id = "listResponses", tag = "responses",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<Response>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<Response>>, Problem> {
    let ListQuery { view_id, status, own, limit, cursor } = query;
    let page = ListPage { limit: limit.0, cursor };
    let wanted = use_case::ListResponses { view_id, status, own, page, ..Default::default() };
    let listed = use_case::list(&state.ledger, caller.scope(), wanted).await?;
    Ok(Json(answered(&state, &caller, listed).await?))
}

/// Read a response
#[utoipa::path(
    get, path = "/api/responses/{id}", operation_id = "getResponse", tag = "responses",
    params(("id" = uuid::Uuid, Path, description = "The response, by the id of its session")),
    responses(
        (status = 200, description = "The response", body = Response),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<Response>, Problem> {
    let response = use_case::get(&state.ledger, caller.scope(), id).await?;
    Ok(Json(response_of(&state, &caller, response).await?))
}

/// List the responses to a view
///
/// Newest first.
#[utoipa::path(
    get, path = "/api/views/{id}/responses", operation_id = "listViewResponses", tag = "responses",
    params(("id" = uuid::Uuid, Path, description = "The view"), OfViewQuery),
    responses(
        (status = 200, description = "A page", body = Page<Response>),
    ),
)]
pub async fn list_of_view(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ViewId>,
    Params(query): Params<OfViewQuery>,
) -> Result<Json<Page<Response>>, Problem> {
    ledger::view::get(&state.ledger, caller.scope(), id).await?;
    let listed = use_case::list(&state.ledger, caller.scope(), query.of_view(id)).await?;
    Ok(Json(answered(&state, &caller, listed).await?))
}

/// Submit answers to a view
///
/// Records the answers and completes the response in one transaction. A repeat is answered with what is recorded: by
/// `submissionId`, and by the respondent if the view takes one response of each. People and programs of the workspace
/// answer here; people without an account use a link.
#[utoipa::path(
    post, path = "/api/views/{id}/submit-interaction", operation_id = "submitInteraction", tag = "responses",
    request_body = SubmitInteraction,
    params(("id" = uuid::Uuid, Path, description = "The view")),
    responses(
        (status = 201, description = "Recorded", body = SubmittedInteraction),
        (status = 200, description = "Recorded earlier", body = SubmittedInteraction),
        (
            status = 409,
            description = "`wrong_status`: the view takes no answers; `stale_version`: the view or the draft has \
                changed; `id_conflict`: the submission id was used for other answers; `request_closed`: the question \
                was cancelled; `already_answered`: you gave another answer to it; `gate_closed`: a decision on it in \
                the inbox can be undone",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn submit(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ViewId>,
    JsonBody(body): JsonBody<SubmitInteraction>,
) -> Result<(StatusCode, Json<SubmittedInteraction>), Problem> {
    let respondent = use_case::Respondent::member(caller.scope())?;
    let done = use_case::submit(&state.ledger, &respondent, id, wire_map::submission(body)).await?;
    let status = if done.is_repeat { StatusCode::OK } else { StatusCode::CREATED };
    let response = wire_map::response(done.response);
    Ok((status, Json(SubmittedInteraction { response, is_repeat: done.is_repeat })))
}

/// Make an entity from a response
///
/// With `typeId`, a new entity is made at once. With `actionId`, the answers are the output of that task: its safety
/// rules judge them, and where the task requires approval, they wait for it in the inbox. `promotionSessionId` is that
/// session. The response then names the entity, and the entity's version names the session that wrote it. A repeat
/// answers with what is recorded.
#[utoipa::path(
    post, path = "/api/responses/{id}/promote", operation_id = "promoteResponse", tag = "responses",
    request_body = PromoteResponse,
    params(("id" = uuid::Uuid, Path, description = "The response, by the id of its session")),
    responses(
        (status = 200, description = "The response with the entity", body = Response),
        (
            status = 422, description = "`hard_block`: a safety rule blocks the answers",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn promote(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<PromoteResponse>,
) -> Result<Json<Response>, Problem> {
    let promoted = use_case::promote(&state.ledger, caller.scope(), id, wire_map::promote(body)?).await?;
    Ok(Json(response_of(&state, &caller, promoted).await?))
}
