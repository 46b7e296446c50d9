//! Actions: configured work.

use crate::{
    extract::{Caller, Id, JsonBody, JsonBodyOrDefault, Limit, Params, query_id},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::{
    action::ActionStatus,
    id::{ActionId, EntityId},
};
use ledger::action as use_case;
use serde::{Deserialize, Deserializer, de};
use wire::{Page, action};

/// Create an action
#[utoipa::path(
    post, path = "/api/actions", operation_id = "createAction", tag = "actions", request_body = action::CreateAction,
    responses(
        (status = 201, description = "Created", body = action::Action),
        (
            status = 409, description = "`name_taken`: the slug belongs to another action",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<action::CreateAction>,
) -> Result<(StatusCode, Json<action::Action>), Problem> {
    let record = use_case::create(&state.ledger, caller.scope(), wire_map::new_action(body)).await?;
    Ok((StatusCode::CREATED, Json(wire_map::action(record))))
}

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// `active` or `archived`; both when absent.
    #[param(value_type = Option<wire::schema::ActionStatus>)]
    status: Option<ActionStatus>,
    /// Tasks of this person: a user id, or `me`.
    #[serde(default, deserialize_with = "assignee")]
    #[param(value_type = Option<wire::schema::Assignee>)]
    assigned_to: Option<use_case::Assignee>,
    /// Words that the name or the description has, and conditions: `agent:scout`, `title:"weekly report"`. A minus
    /// excludes. Another field is refused.
    #[param(value_type = Option<wire::schema::SearchLine>)]
    q: Option<String>,
    /// Actions whose target is this entity.
    #[serde(default, deserialize_with = "query_id")]
    #[param(value_type = Option<uuid::Uuid>)]
    target_entity_id: Option<EntityId>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

impl From<ListQuery> for use_case::ListActions {
    fn from(query: ListQuery) -> Self {
        let ListQuery { status, assigned_to, q, target_entity_id, limit, cursor } = query;
        Self { status, assigned_to, line: q, target_entity_id, limit: limit.0, cursor, ..Self::default() }
    }
}

/// `me`, or a user id.
fn assignee<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<use_case::Assignee>, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "me" => Ok(Some(use_case::Assignee::Me)),
        text => text.parse().map(|id| Some(use_case::Assignee::User(id))).map_err(de::Error::custom),
    }
}

/// List actions
#[utoipa::path(
    get, path = "/api/actions", operation_id = "listActions", tag = "actions",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<action::Action>),
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
) -> Result<Json<Page<action::Action>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::action)))
}

/// Read an action
#[utoipa::path(
    get, path = "/api/actions/{id}", operation_id = "getAction", tag = "actions",
    params(("id" = uuid::Uuid, Path, description = "The action")),
    responses(
        (status = 200, description = "The action", body = action::Action),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ActionId>,
) -> Result<Json<action::Action>, Problem> {
    Ok(Json(wire_map::action(use_case::get(&state.ledger, caller.scope(), id).await?)))
}

/// Change an action
///
/// Fields that are absent stay as they are; `null` clears a field that can be empty.
#[utoipa::path(
    patch, path = "/api/actions/{id}", operation_id = "updateAction",
    tag = "actions", request_body = action::UpdateAction,
    params(("id" = uuid::Uuid, Path, description = "The action")),
    responses(
        (status = 200, description = "As it is now", body = action::Action),
        (
            status = 409, description = "`name_taken`: the slug belongs to another action",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn update(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ActionId>,
    JsonBody(body): JsonBody<action::UpdateAction>,
) -> Result<Json<action::Action>, Problem> {
    let record = use_case::update(&state.ledger, caller.scope(), id, wire_map::action_change(body)).await?;
    Ok(Json(wire_map::action(record)))
}

/// Trigger an action
///
/// Queues a session of the action. With `dependsOn` it waits as a draft until those sessions have ended. The body is
/// optional. If the action names no agent, `warnings` has an entry: only a worker that claims without `agentSlugs`
/// takes the session.
#[utoipa::path(
    post, path = "/api/actions/{id}/trigger", operation_id = "triggerAction",
    tag = "actions", request_body = Option<action::Trigger>,
    params(("id" = uuid::Uuid, Path, description = "The action")),
    responses(
        (
            status = 201, description = "The queued session, or the one that this idempotency key made before",
            body = action::Triggered,
        ),
        (
            status = 409,
            description = "`id_conflict`: the key was used for something else",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn trigger(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ActionId>,
    JsonBodyOrDefault(body): JsonBodyOrDefault<action::Trigger>,
) -> Result<(StatusCode, Json<action::Triggered>), Problem> {
    let record = use_case::trigger(&state.ledger, caller.scope(), id, wire_map::trigger(body)?).await?;
    Ok((StatusCode::CREATED, Json(wire_map::triggered(record))))
}

/// Read the status of an action's newest session
///
/// Its status, duration and error, and its newest events.
#[utoipa::path(
    get, path = "/api/actions/{id}/task-status", operation_id = "getTaskStatus", tag = "actions",
    params(("id" = uuid::Uuid, Path, description = "The action")),
    responses(
        (status = 200, description = "Status of the newest session", body = action::TaskStatus),
    ),
)]
pub async fn task_status(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<ActionId>,
) -> Result<Json<action::TaskStatus>, Problem> {
    let status = use_case::task_status(&state.ledger, caller.scope(), id).await?;
    Ok(Json(wire_map::task_status_and_events(status)))
}
