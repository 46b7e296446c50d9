//! Requests of agents that people answer, and the answers.

use crate::{
    extract::{Caller, Id, JsonBody, Limit, PageQuery, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::id::{FeedbackRequestId, SessionId};
use ledger::{ListPage, feedback_request as use_case, view_link};
use serde::Deserialize;
use wire::{
    Page,
    feedback_request::{
        AnswerRequest, Answered, AskFeedback, Asked, FeedbackRequest, RequestAnswer, SessionContext, TakeAnswers,
    },
};

/// Ask people
///
/// Asks people in the middle of a session, with a published view, with fields, or with the `requestedSchema` of an MCP
/// elicitation. A blocking request parks the session: the worker stops, and the claim after the answer has it in
/// `resume`. With `blocking: false` the session goes on, and later claims and `…/answers/take` have the answers. A
/// repeat with the same key is the same request, even if it is answered.
#[utoipa::path(
    post, path = "/api/sessions/{id}/feedback-requests", operation_id = "askFeedback", tag = "requests",
    request_body = AskFeedback,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 201, description = "The request, or the one that was made with this key before", body = Asked),
        (
            status = 409,
            description = "`stale_attempt` or `wrong_status`: the worker does not hold the session; `id_conflict`: the \
                key was used for something else",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn ask(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<AskFeedback>,
) -> Result<(StatusCode, Json<Asked>), Problem> {
    let (recorded, link) = view_link::ask(&state.ledger, caller.scope(), id, wire_map::new_request(body)?).await?;
    Ok((StatusCode::CREATED, Json(wire_map::recorded_request(recorded, link))))
}

/// List the requests of a session
///
/// Newest first.
#[utoipa::path(
    get, path = "/api/sessions/{id}/feedback-requests", operation_id = "listFeedbackRequests",
    tag = "requests",
    params(("id" = uuid::Uuid, Path, description = "The session"), PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<FeedbackRequest>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<FeedbackRequest>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), id, query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::feedback_request)))
}

/// Read a request
#[utoipa::path(
    get, path = "/api/feedback-requests/{id}", operation_id = "getFeedbackRequest", tag = "requests",
    params(("id" = uuid::Uuid, Path, description = "The request")),
    responses(
        (status = 200, description = "The request", body = FeedbackRequest),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<FeedbackRequestId>,
) -> Result<Json<FeedbackRequest>, Problem> {
    Ok(Json(wire_map::feedback_request(use_case::get(&state.ledger, caller.scope(), id).await?)))
}

/// Answer a request
///
/// For members and programs of the workspace; strangers answer by the link of a form. The answer to a blocking request
/// queues the session again. A repeat is answered with what is recorded. An answer after the deadline, or to a request
/// that is answered, is kept as `late` and never reaches the agent.
#[utoipa::path(
    post, path = "/api/feedback-requests/{id}/answer", operation_id = "answerFeedbackRequest",
    tag = "requests", request_body = AnswerRequest,
    params(("id" = uuid::Uuid, Path, description = "The request")),
    responses(
        (status = 200, description = "The answer as it is recorded", body = Answered),
        (
            status = 409,
            description = "`already_answered` (`recorded` is the caller's other answer), `request_closed`, or \
                `gate_closed` while a decision in the inbox can be undone",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn answer(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<FeedbackRequestId>,
    JsonBody(body): JsonBody<AnswerRequest>,
) -> Result<Json<Answered>, Problem> {
    let answered = use_case::answer(&state.ledger, caller.scope(), id, wire_map::new_answer(body)?).await?;
    Ok(Json(wire_map::answered(answered)))
}

/// The query of [`answers`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswersQuery {
    /// Leaves out late answers and those that a claim has taken.
    #[serde(default)]
    unconsumed: bool,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

/// List answers
///
/// The answers to a session's requests and to those of the root of its tree, oldest first. Reading takes none: the
/// agent still gets them.
#[utoipa::path(
    get, path = "/api/sessions/{id}/answers", operation_id = "listAnswers", tag = "requests",
    params(("id" = uuid::Uuid, Path, description = "The session"), AnswersQuery),
    responses(
        (status = 200, description = "A page", body = Page<RequestAnswer>),
    ),
)]
pub async fn answers(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    Params(query): Params<AnswersQuery>,
) -> Result<Json<Page<RequestAnswer>>, Problem> {
    let page = ListPage { limit: query.limit.0, cursor: query.cursor };
    let wanted = use_case::ListAnswers { unconsumed: query.unconsumed, page };
    let listed = use_case::answers(&state.ledger, caller.scope(), id, wanted).await?;
    Ok(Json(wire_map::page(listed, wire_map::request_answer)))
}

/// Take answers
///
/// For the worker that holds the session: returns up to 10 answers that no claim and no call has got yet, oldest first.
/// Each answer is taken once; the log keeps its words. A call whose response was lost is repeated with the same
/// `idempotencyKey`, and returns the same answers.
#[utoipa::path(
    post, path = "/api/sessions/{id}/answers/take", operation_id = "takeAnswers", tag = "requests",
    request_body = TakeAnswers,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The answers; none if there are none", body = SessionContext),
        (
            status = 409, description = "`stale_attempt` or `wrong_status`: the worker does not hold the session",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn take(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<TakeAnswers>,
) -> Result<Json<SessionContext>, Problem> {
    let taken = use_case::take(&state.ledger, caller.scope(), id, body.attempt, body.idempotency_key).await?;
    Ok(Json(wire_map::taken(taken)))
}
