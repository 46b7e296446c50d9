//! Sessions: create, list, read, cancel, retry.

use crate::{
    extract::{Caller, Id, JsonBody, JsonBodyOrDefault, Limit, Params, query_id},
    problem::Problem,
    result_file,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode, response::Response};
use domain::{
    id::{ActionId, SessionId},
    session::{Sort, Status, Type},
};
use ledger::{Error, search::SearchLine, session as use_case, thread};
use serde::Deserialize;
use wire::{
    Page,
    session::{
        Cancel, CreateSession, Dependencies, SendSessionMessage, Session, SessionMessageReceipt, SupplyToolResults,
    },
};

/// Create a session
///
/// `agent` and `tool` sessions are queued for a worker. With `dependsOn` they wait as drafts until those sessions have
/// ended. Other types are refused: a `response` session begins with the answers to a form, and a `mixed` one when a
/// person works on a task.
#[utoipa::path(
    post, path = "/api/sessions", operation_id = "createSession", tag = "sessions", request_body = CreateSession,
    responses(
        (status = 201, description = "Created, or the one that this idempotency key made before", body = Session),
        (
            status = 409, description = "`id_conflict`: the key was used for something else",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<CreateSession>,
) -> Result<(StatusCode, Json<Session>), Problem> {
    let record = use_case::create(&state.ledger, caller.scope(), wire_map::new_session(body)?).await?;
    Ok((StatusCode::CREATED, Json(wire_map::session(record))))
}

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// agent, response, tool or mixed.
    #[serde(rename = "type")]
    #[param(value_type = Option<wire::schema::SessionType>)]
    session_type: Option<Type>,
    /// One of the ten statuses.
    #[param(value_type = Option<wire::schema::SessionStatus>)]
    status: Option<Status>,
    /// Sessions of this action.
    #[serde(default, deserialize_with = "query_id")]
    #[param(value_type = Option<uuid::Uuid>)]
    action_id: Option<ActionId>,
    /// Sessions of this agent.
    #[param(value_type = Option<wire::schema::AgentName>)]
    agent_slug: Option<String>,
    /// Sessions started by this session.
    #[serde(default, deserialize_with = "query_id")]
    #[param(value_type = Option<uuid::Uuid>)]
    parent_id: Option<SessionId>,
    /// Part of the title. One page compares the titles of at most 20,000 sessions: it can have few entries or none, and
    /// still have a `nextCursor`.
    #[param(value_type = Option<wire::schema::TitlePart>)]
    title: Option<String>,
    /// A search line: conditions such as `agent:scout status:failed,expired cost>0.5 after:fri`, and words, which are
    /// looked for in titles and in the newest 4,000 events that have them. One page compares at most 20,000 sessions:
    /// it can have few entries or none, and still have a `nextCursor`.
    #[param(value_type = Option<wire::schema::SearchLine>)]
    q: Option<String>,
    /// Time zone of the days in `q`, an IANA name; UTC without it.
    #[param(value_type = Option<wire::schema::TimeZone>)]
    timezone: Option<String>,
    /// The order: `newest` (default), `oldest`, `duration` (the longest first), `cost` (the highest first) or
    /// `activity` (the latest event first). Lists by `duration`, `cost` and `activity` have the newest 20,000 sessions.
    #[param(value_type = Option<wire::schema::SessionSort>)]
    sort: Option<Sort>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

impl From<ListQuery> for use_case::ListSessions {
    fn from(query: ListQuery) -> Self {
        Self {
            session_type: query.session_type,
            status: query.status,
            action_id: query.action_id,
            agent_slug: query.agent_slug,
            parent_id: query.parent_id,
            title_contains: query.title,
            ended_on: None,
            ended_since: None,
            decided_on: None,
            answered_on: None,
            // An unknown zone is refused without a line too.
            timezone: query.timezone.clone(),
            query: query.q.map(|text| SearchLine { text, timezone: query.timezone }),
            sort: query.sort.unwrap_or_default(),
            limit: query.limit.0,
            cursor: query.cursor,
        }
    }
}

/// List sessions
///
/// Newest first, or in the order of `sort`. A cursor belongs to the order of its list.
#[utoipa::path(
    get, path = "/api/sessions", operation_id = "listSessions", tag = "sessions",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<Session>),
        (
            status = 422, description = "`invalid_request`: `q` is no search line, and the message names the place; \
                `sort` is no order, and the message names those that exist",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<Session>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::session)))
}

/// Read a session
#[utoipa::path(
    get, path = "/api/sessions/{id}", operation_id = "getSession", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The session", body = Session),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<Session>, Problem> {
    Ok(Json(wire_map::session(use_case::get(&state.ledger, caller.scope(), id).await?)))
}

/// Save the result of a session
///
/// The JSON as it was recorded, as a file. The answer is `404` if the session has not ended, or ended without a result.
#[utoipa::path(
    get, path = "/api/sessions/{id}/result", operation_id = "saveResult", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The file", body = wire::schema::AnyJson, content_type = "application/json"),
    ),
)]
pub async fn result(State(state): State<AppState>, caller: Caller, Id(id): Id<SessionId>) -> Result<Response, Problem> {
    let session = use_case::get(&state.ledger, caller.scope(), id).await?;
    let result = session.result().ok_or(Error::NotFound("result"))?;
    Ok(result_file::saved(&format!("session-{id}-result.json"), result.to_owned()))
}

/// List the sessions that a session waits for
///
/// The sessions that it depends on, and those that depend on it.
#[utoipa::path(
    get, path = "/api/sessions/{id}/dependencies", operation_id = "listDependencies", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "Before and after it", body = Dependencies),
    ),
)]
pub async fn dependencies(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<Dependencies>, Problem> {
    Ok(Json(wire_map::dependencies(use_case::related(&state.ledger, caller.scope(), id).await?)))
}

/// Cancel a session
///
/// Ends it as `abandoned` with end reason `cancelled`, together with the sessions that it started and that have not
/// ended. The body is optional.
#[utoipa::path(
    post, path = "/api/sessions/{id}/cancel", operation_id = "cancelSession",
    tag = "sessions", request_body = Option<Cancel>,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The session as it ended", body = Session),
        (
            status = 409, description = "`already_final`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn cancel(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBodyOrDefault(body): JsonBodyOrDefault<Cancel>,
) -> Result<Json<Session>, Problem> {
    Ok(Json(wire_map::session(use_case::cancel(&state.ledger, caller.scope(), id, body.reason).await?)))
}

/// Retry a session
///
/// Creates a new session with the same input, and with `retryOf` set to this one. This session does not change.
#[utoipa::path(
    post, path = "/api/sessions/{id}/retry", operation_id = "retrySession", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 201, description = "The new session", body = Session),
        (
            status = 409, description = "`wrong_status`: it has not ended",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: its task is archived",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn retry(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<(StatusCode, Json<Session>), Problem> {
    let record = use_case::retry(&state.ledger, caller.scope(), id).await?;
    Ok((StatusCode::CREATED, Json(wire_map::session(record))))
}

/// Send a message to the agent of a session
///
/// Continues a session that its worker left `idle`: the message is recorded as `user.message`, and the session is
/// queued. While it is queued, further messages are recorded. A conversation takes messages here too.
///
/// A repeated request with the same `id` is answered with the recorded message.
#[utoipa::path(
    post, path = "/api/sessions/{id}/messages", operation_id = "sendSessionMessage", tag = "sessions",
    request_body = SendSessionMessage,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 201, description = "Recorded, now or before", body = SessionMessageReceipt),
        (
            status = 409,
            description = "`wrong_status`: it takes no message now; `already_final`; `id_conflict`: the id is recorded \
                with another text",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn send_message(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<SendSessionMessage>,
) -> Result<(StatusCode, Json<SessionMessageReceipt>), Problem> {
    let message = wire_map::session_message(body);
    let said = thread::message_session(&state.ledger, caller.scope(), id, message).await?;
    Ok((StatusCode::CREATED, Json(wire_map::session_message_receipt(said))))
}

/// Supply the results of custom tools
///
/// For a session that waits as `awaiting_tool` without an approval. Each result is recorded as `user.tool_result`, the
/// session is queued, and the next claim has the results as `toolResults`. With `more` it keeps waiting. If the log has
/// calls without a result, the results must be of them. A result that is recorded already is not recorded again.
///
/// Whoever started the session may do this, and operators and admins. A token with the scope worker supplies no result
/// to a session that it has claimed itself.
#[utoipa::path(
    post, path = "/api/sessions/{id}/tool-results", operation_id = "supplyToolResults", tag = "sessions",
    request_body = SupplyToolResults,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The session, queued or still waiting", body = Session),
        (
            status = 409,
            description = "`wrong_status`: it waits for no tool, or for a decision; `already_final`; `id_conflict`: the \
                call has another result",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn supply_tool_results(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<SupplyToolResults>,
) -> Result<Json<Session>, Problem> {
    let results = wire_map::tool_results(body);
    Ok(Json(wire_map::session(use_case::supply_tool_results(&state.ledger, caller.scope(), id, results).await?)))
}
