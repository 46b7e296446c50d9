//! Approvals: list the gates that wait for a decision, and decide them.

use crate::{
    extract::{Caller, Id, JsonBody, JsonBodyOrDefault, Limit, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use domain::{
    gate::{GateKind, GateState},
    id::{GateId, SessionId},
    limit::{COUNT_AT_MOST_MAX, DECISIONS_BATCH_MAX},
};
use ledger::{feedback_request, gate as use_case, page::inbox};
use serde::Deserialize;
use wire::{
    Code, Page,
    approval::{
        Approval, ApprovalCount, ApprovalDetail, Decide, DecideMany, DecideOne, Decided, DecidedOne, ElicitationReply,
        HandOver, Snooze, ToolApproval,
    },
    session::Session,
};

/// Which approvals a list shows.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateFilter {
    #[default]
    Open,
    Snoozed,
    Held,
    Settled,
    Expired,
    Withdrawn,
}

impl StateFilter {
    const fn filter(self) -> use_case::GateFilter {
        use use_case::GateFilter::{In, Snoozed};
        match self {
            Self::Open => In(GateState::Open),
            Self::Snoozed => Snoozed,
            Self::Held => In(GateState::Held),
            Self::Settled => In(GateState::Settled),
            Self::Expired => In(GateState::Expired),
            Self::Withdrawn => In(GateState::Withdrawn),
        }
    }
}

/// Whose approvals a list shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AssigneeFilter {
    #[default]
    Me,
    All,
}

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// open (default), snoozed, held, settled, expired or withdrawn.
    #[serde(default)]
    #[param(value_type = Option<wire::schema::ApprovalFilter>)]
    state: StateFilter,
    /// tool, output, fields, question or memory.
    #[param(value_type = Option<wire::schema::GateKind>)]
    kind: Option<GateKind>,
    /// me (default): approvals that the caller may decide; all: everyone's. A token always gets everyone's.
    #[serde(default)]
    #[param(value_type = Option<wire::schema::ApprovalsOf>)]
    assigned_to: AssigneeFilter,
    /// Words that the title or the values to decide on have, `agent:`, `kind:`, and `tool:` and `title:` with a part of
    /// the name. A minus excludes. Another field is refused. One page compares at most 2,000 approvals: it can have few
    /// entries or none, and still have a `nextCursor`.
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

/// List approvals
///
/// Closest deadline first, then oldest. Settled, expired and withdrawn approvals: closed last first. A question of an
/// agent that goes on meanwhile is no approval: nothing waits for it, and it is listed with its session's feedback
/// requests.
#[utoipa::path(
    get, path = "/api/approvals", operation_id = "listApprovals", tag = "approvals",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<Approval>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<Approval>>, Problem> {
    let wanted = use_case::ListGates {
        filter: query.state.filter(),
        kind: query.kind,
        all: query.assigned_to == AssigneeFilter::All,
        limit: query.limit.0,
        cursor: query.cursor,
    };
    let listed = use_case::list_matching(&state.ledger, caller.scope(), wanted, query.q.as_deref()).await?;
    Ok(Json(wire_map::page(listed, wire_map::approval)))
}

/// The query of [`count`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CountQuery {
    /// Counting stops at this number, which is then the answer. Without it everything is counted.
    #[param(value_type = Option<wire::schema::CountAtMost>)]
    at_most: Option<u32>,
}

/// Count what waits for the caller in the inbox
///
/// Approvals, questions of agents that go on meanwhile, and suggestions for canvases. Snoozed approvals are not
/// counted. A token gets 0.
#[utoipa::path(
    get, path = "/api/approvals/count", operation_id = "countApprovals", tag = "approvals",
    params(CountQuery),
    responses(
        (status = 200, description = "The count", body = ApprovalCount),
    ),
)]
pub async fn count(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<CountQuery>,
) -> Result<Json<ApprovalCount>, Problem> {
    if query.at_most.is_some_and(|most| most > COUNT_AT_MOST_MAX) {
        return Err(Problem::field(Code::InvalidRequest, "atMost", format!("0 to {COUNT_AT_MOST_MAX}")));
    }
    let waiting = inbox::count(&state.ledger, caller.scope(), query.at_most.unwrap_or(u32::MAX)).await?;
    Ok(Json(ApprovalCount { open: waiting.all(), questions: waiting.questions }))
}

/// Read an approval
///
/// The answer contains the entity that it is about, every decision on it, and earlier denials in its session.
#[utoipa::path(
    get, path = "/api/approvals/{id}", operation_id = "getApproval", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "The approval")),
    responses(
        (status = 200, description = "The approval", body = ApprovalDetail),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<GateId>,
) -> Result<Json<ApprovalDetail>, Problem> {
    Ok(Json(wire_map::approval_detail(use_case::get(&state.ledger, caller.scope(), id).await?)))
}

/// Decide
///
/// The decision is recorded at once. It takes effect at `heldUntil`, when it can no longer be undone. A repeated
/// request is answered with the recorded decision. Only people decide: a token is refused.
#[utoipa::path(
    post, path = "/api/approvals/{id}/decision", operation_id = "decideApproval", tag = "approvals",
    request_body = Decide,
    params(("id" = uuid::Uuid, Path, description = "The approval")),
    responses(
        (status = 200, description = "The approval with the decision", body = Approval),
        (
            status = 409,
            description = "`already_decided` (`recorded` is the decision), `stale_decision` or `gate_closed`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`hard_block`: an edit chose what must not be; `errors` names the dimension",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn decide(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<GateId>,
    JsonBody(body): JsonBody<Decide>,
) -> Result<Json<Approval>, Problem> {
    let item = use_case::decide(&state.ledger, caller.scope(), id, wire_map::new_decision(body)?).await?;
    Ok(Json(wire_map::approval(item)))
}

/// Decide many
///
/// Each decision has its own result. A decision that is refused does not stop the others.
#[utoipa::path(
    post, path = "/api/approvals/decisions", operation_id = "decideApprovals", tag = "approvals",
    request_body = DecideMany,
    responses(
        (status = 200, description = "What became of each, in order", body = Decided),
    ),
)]
pub async fn decide_many(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<DecideMany>,
) -> Result<Json<Decided>, Problem> {
    if !(1..=DECISIONS_BATCH_MAX).contains(&body.decisions.len()) {
        let message = format!("1 to {DECISIONS_BATCH_MAX}");
        return Err(Problem::field(Code::InvalidRequest, "decisions", message));
    }
    let ids: Vec<_> = body.decisions.iter().map(|one| one.id.clone()).collect();
    let decisions = body.decisions.into_iter().map(one_of_many).collect();
    let decided = ledger::inbox::decide_many(&state.ledger, caller.scope(), decisions).await;
    let results = ids.into_iter().zip(decided).map(|(id, decided)| decided_one(&state, id, decided));
    Ok(Json(Decided { results: results.collect() }))
}

fn decided_one(state: &AppState, id: String, decided: Result<use_case::GateItem, Problem>) -> DecidedOne {
    let (approval, problem) = match decided {
        Ok(item) => (Some(wire_map::approval(item)), None),
        Err(problem) => (None, Some(problem.to_wire(state.ledger.request_id().to_string()))),
    };
    DecidedOne { id, approval, problem }
}

fn one_of_many(one: DecideOne) -> Result<(GateId, use_case::NewDecision), Problem> {
    let id = wire_map::parse_id("id", &one.id)?;
    Ok((id, wire_map::new_decision(one.into())?))
}

/// Undo a decision
///
/// Takes back the caller's own decision before it takes effect. The approval is open again. The log keeps the decision
/// and its withdrawal.
#[utoipa::path(
    post, path = "/api/approvals/{id}/undo", operation_id = "undoDecision", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "The approval")),
    responses(
        (status = 200, description = "The approval, which waits again", body = Approval),
        (
            status = 409, description = "`gate_closed`: there is nothing to undo, or it has taken effect",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn undo(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<GateId>,
) -> Result<Json<Approval>, Problem> {
    Ok(Json(wire_map::approval(use_case::undo(&state.ledger, caller.scope(), id).await?)))
}

/// Snooze an approval
///
/// Hides it from the caller only. Its deadline does not change: if it expires before the snooze ends, it is shown again
/// an hour before it expires (`snoozedUntil`), and if that is sooner than an hour from now, the snooze is refused.
#[utoipa::path(
    post, path = "/api/approvals/{id}/snooze", operation_id = "snoozeApproval", tag = "approvals",
    request_body = Option<Snooze>,
    params(("id" = uuid::Uuid, Path, description = "The approval")),
    responses(
        (status = 200, description = "The approval", body = Approval),
    ),
)]
pub async fn snooze(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<GateId>,
    JsonBodyOrDefault(body): JsonBodyOrDefault<Snooze>,
) -> Result<Json<Approval>, Problem> {
    let (ledger, scope) = (&state.ledger, caller.scope());
    let item = match (body.seconds, body.until) {
        (Some(_), Some(_)) => return Err(Problem::field(Code::InvalidRequest, "until", "not with `seconds`")),
        (None, Some(until)) => use_case::snooze_until(ledger, scope, id, Some(until)).await?,
        (seconds, None) => use_case::snooze(ledger, scope, id, seconds).await?,
    };
    Ok(Json(wire_map::approval(item)))
}

/// Hand an approval over
///
/// The person or the group may decide it from now on and gets a message. For a week it is not in the caller's list
/// (`snoozedUntil`). No one loses the right to decide it. Everyone who may decide it may hand it over. Can be repeated:
/// the same recipient and note within a week change nothing, unless the approval came back to the caller since.
#[utoipa::path(
    post, path = "/api/approvals/{id}/hand-over", operation_id = "handOverApproval", tag = "approvals",
    request_body = HandOver,
    params(("id" = uuid::Uuid, Path, description = "The approval")),
    responses(
        (status = 200, description = "The approval", body = Approval),
        (
            status = 409, description = "`gate_closed`: it is not open",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn hand_over(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<GateId>,
    JsonBody(body): JsonBody<HandOver>,
) -> Result<Json<Approval>, Problem> {
    let to = wire_map::handed_to(&body.to)?;
    let item = use_case::hand_over(&state.ledger, caller.scope(), id, to, body.note).await?;
    Ok(Json(wire_map::approval(item)))
}

/// Decide by action
///
/// `id` is an approval, or an action with exactly one session that waits for a decision. `modifiedArgs` applies to a
/// tool call and `modifiedOutput` to an output. A repeated request is answered with the recorded decision, as long as
/// the action has no newer session.
#[utoipa::path(
    post, path = "/api/actions/{id}/tool-approval", operation_id = "toolApproval", tag = "approvals",
    request_body = ToolApproval,
    params(("id" = uuid::Uuid, Path, description = "The approval, or the action")),
    responses(
        (status = 200, description = "The approval with the decision", body = Approval),
        (
            status = 409,
            description = "`already_decided` (`recorded` is the decision), `stale_decision` or `gate_closed`",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn tool_approval(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<domain::id::ActionId>,
    JsonBody(body): JsonBody<ToolApproval>,
) -> Result<Json<Approval>, Problem> {
    let (id, kind) = use_case::of_action(&state.ledger, caller.scope(), id.0, body.kind).await?;
    let new = wire_map::tool_approval(body, kind)?;
    Ok(Json(wire_map::approval(use_case::decide(&state.ledger, caller.scope(), id, new).await?)))
}

/// Answer a question
///
/// Queues the session again with the answer. The person who started the session and the question's reviewers may
/// answer. With `requestId`, a repeat is answered with the session as it is now and changes nothing. Without it, a
/// repeat may answer the question that the agent asks next.
#[utoipa::path(
    post, path = "/api/sessions/{id}/elicitation-reply", operation_id = "replyToElicitation", tag = "approvals",
    request_body = ElicitationReply,
    params(("id" = uuid::Uuid, Path, description = "The session")),
    responses(
        (status = 200, description = "The queued session", body = Session),
        (
            status = 409,
            description = "`wrong_status`: it does not wait for an answer; `gate_closed`: it has one; with `requestId`, \
                `already_answered` (`recorded` is the caller's other answer) or `request_closed`: the answer is too \
                late and is not kept",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn reply(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
    JsonBody(body): JsonBody<ElicitationReply>,
) -> Result<Json<Session>, Problem> {
    let (ledger, scope) = (&state.ledger, caller.scope());
    let record = match body.request_id {
        Some(request_id) => {
            feedback_request::reply(ledger, scope, id, request_id, wire_map::reply_to_request(body)?).await?
        }
        None => use_case::reply(ledger, scope, id, wire_map::reply(body)?).await?,
    };
    Ok(Json(wire_map::session(record)))
}
