//! Conversations: start, send a message, interrupt, end.

use crate::{
    extract::{Caller, Id, JsonBody, JsonBodyOrDefault, PageQuery, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::id::SessionId;
use ledger::thread as use_case;
use wire::{
    Page,
    thread::{EndThread, EndedThread, MessageReceipt, NewMessage, StartThread, Thread},
};

/// Start a conversation
///
/// The agent is given by its slug, or by an action that names it. A conversation is a session of type agent: its log
/// is read and followed like that of any session. With a message the first turn is queued. Without one the
/// conversation is a draft.
///
/// Each turn is queued for the agent's worker, which yields with `idle` when it has replied.
#[utoipa::path(
    post, path = "/api/threads", operation_id = "startThread", tag = "threads", request_body = StartThread,
    responses(
        (status = 201, description = "Begun, or the one that this idempotency key began before", body = Thread),
        (
            status = 409, description = "`id_conflict`: the key was used for something else",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn start(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<StartThread>,
) -> Result<(StatusCode, Json<Thread>), Problem> {
    let begun = use_case::start(&state.ledger, caller.scope(), wire_map::new_thread(body)).await?;
    Ok((StatusCode::CREATED, Json(wire_map::thread(begun.session, Some(begun.turns)))))
}

/// List own conversations
///
/// Newest first: conversations that the caller started, and conversations that belong to the caller as a person.
#[utoipa::path(
    get, path = "/api/threads", operation_id = "listThreads", tag = "threads", params(PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<Thread>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<Thread>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    Ok(Json(wire_map::page(listed, |session| wire_map::thread(session, None))))
}

/// Read a conversation
#[utoipa::path(
    get, path = "/api/threads/{id}", operation_id = "getThread", tag = "threads",
    params(("id" = uuid::Uuid, Path, description = "The conversation")),
    responses(
        (status = 200, description = "The conversation", body = Thread),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<Thread>, Problem> {
    let (session, turns) = use_case::get(&state.ledger, caller.scope(), id).await?;
    Ok(Json(wire_map::thread(session, Some(turns))))
}

/// Send a message
///
/// Queues the agent's next turn. While a turn is queued, further messages are accepted and answered in the same turn.
/// While the agent works or waits for someone, a message is refused: wait for the end of the turn, or interrupt it.
///
/// A repeated request with the same `id` is answered with the recorded message.
///
/// A program that brings messages from another platform names their `author`. Memories are kept for that person then.
#[utoipa::path(
    post, path = "/api/threads/{id}/messages", operation_id = "sendMessage", tag = "threads", request_body = NewMessage,
    params(("id" = uuid::Uuid, Path, description = "The conversation")),
    responses(
        (status = 201, description = "Recorded, now or before", body = MessageReceipt),
        (
            status = 409,
            description = "`wrong_status`: a turn is under way; `already_final`: it has ended; `id_conflict`: the id is recorded with another text",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn send_message(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<NewMessage>,
) -> Result<(StatusCode, Json<MessageReceipt>), Problem> {
    let author = body.author.clone().map(wire_map::relayed_author);
    let message = wire_map::message(body);
    let said = use_case::relay_message(&state.ledger, caller.scope(), id, message, author).await?;
    Ok((StatusCode::CREATED, Json(wire_map::message_receipt(said))))
}

/// Interrupt a turn
///
/// Ends a running turn: its worker loses the session, and the conversation becomes idle. What the agent has written so
/// far is kept.
#[utoipa::path(
    post, path = "/api/threads/{id}/interrupt", operation_id = "interruptThread", tag = "threads",
    params(("id" = uuid::Uuid, Path, description = "The conversation")),
    responses(
        (status = 200, description = "At rest", body = Thread),
        (
            status = 409, description = "`wrong_status`: no turn is running; `already_final`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn interrupt(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<Thread>, Problem> {
    let session = use_case::interrupt(&state.ledger, caller.scope(), id).await?;
    Ok(Json(wire_map::thread(session, None)))
}

/// End a conversation
///
/// An idle conversation ends as `completed`. Before its first turn or during a turn it ends as `abandoned`. A summary
/// of its log is kept as `result.summary` of its session. If it is idle and its agent is a model that this server
/// runs, the model is asked for a closing text, for at most 10 seconds. If it gives none, `closingMissing` says why,
/// and the conversation ends nevertheless. The body is optional. `feedback` records the person's rating outside of the
/// log, once; the answer does not say whether it was recorded. The request can be repeated.
#[utoipa::path(
    post, path = "/api/threads/{id}/end", operation_id = "endThread", tag = "threads", request_body = Option<EndThread>,
    params(("id" = uuid::Uuid, Path, description = "The conversation")),
    responses(
        (status = 200, description = "As it ended, now or before", body = EndedThread),
    ),
)]
pub async fn end(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBodyOrDefault(body): JsonBodyOrDefault<EndThread>,
) -> Result<Json<EndedThread>, Problem> {
    let ended = state.thread_endings.end(caller.scope(), id, wire_map::ending(&body)?).await?;
    Ok(Json(wire_map::ended(ended)))
}

/// End a conversation
///
/// The same as `POST /api/threads/{id}/end`, at a path that other systems use.
#[utoipa::path(
    post, path = "/threads/{id}/end", operation_id = "endThreadAtRoot", tag = "threads",
    request_body = Option<EndThread>,
    params(("id" = uuid::Uuid, Path, description = "The conversation")),
    responses(
        (status = 200, description = "As it ended, now or before", body = EndedThread),
    ),
)]
pub async fn end_at_root(
    state: State<AppState>,
    caller: Caller,
    id: Id<SessionId>,
    body: JsonBodyOrDefault<EndThread>,
) -> Result<Json<EndedThread>, Problem> {
    end(state, caller, id, body).await
}
