//! Rules that approve tool calls and outputs of agents.

use crate::{
    extract::{Caller, Id, JsonBody, PageQuery, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State, http::StatusCode};
use domain::id::RuleId;
use ledger::rule as use_case;
use wire::{
    Page,
    rule::{BackTest, NewRule, Rule, RuleDecision, UpdateRule},
};

/// Create a rule
///
/// From now on it approves what it covers, in the transaction that asks for the approval and with the usual time to
/// undo. For admins who are signed in: a rule decides for a person.
#[utoipa::path(
    post, path = "/api/rules", operation_id = "createRule", tag = "approvals",
    request_body = NewRule,
    responses(
        (status = 201, description = "Created", body = Rule),
        (
            status = 422, description = "`invalid_request`: `errors` names the fields; `limit_reached`: the workspace has \
                200 rules, or 20 about the same approvals",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn create(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<NewRule>,
) -> Result<(StatusCode, Json<Rule>), Problem> {
    let made = use_case::create(&state.ledger, caller.scope(), wire_map::new_rule(body)).await?;
    Ok((StatusCode::CREATED, read(&state, &caller, made.id).await?))
}

/// List rules
///
/// Without deleted ones. The newest rule comes first.
#[utoipa::path(
    get, path = "/api/rules", operation_id = "listRules", tag = "approvals",
    params(PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<Rule>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<Rule>>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::rule)))
}

/// Read a rule
///
/// Deleted rules can be read too, because decisions name them.
#[utoipa::path(
    get, path = "/api/rules/{id}", operation_id = "getRule", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "The rule")),
    responses(
        (status = 200, description = "The rule with its newest version", body = Rule),
    ),
)]
pub async fn get(State(state): State<AppState>, caller: Caller, Id(id): Id<RuleId>) -> Result<Json<Rule>, Problem> {
    read(&state, &caller, id).await
}

/// Change a rule
///
/// Creates a new version, for the admin who calls. A suspended rule remains suspended. A request that changes nothing
/// creates no version. For admins who are signed in.
#[utoipa::path(
    patch, path = "/api/rules/{id}", operation_id = "updateRule", tag = "approvals", request_body = UpdateRule,
    params(("id" = uuid::Uuid, Path, description = "The rule")),
    responses(
        (status = 200, description = "As it is now", body = Rule),
        (
            status = 409, description = "`stale_version`: someone changed it since it was read; `wrong_status`: it is \
                deleted",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn update(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<RuleId>,
    JsonBody(body): JsonBody<UpdateRule>,
) -> Result<Json<Rule>, Problem> {
    use_case::update(&state.ledger, caller.scope(), id, wire_map::rule_change(body)).await?;
    read(&state, &caller, id).await
}

/// Delete a rule
///
/// It decides nothing any more. A repeat changes nothing. For admins.
#[utoipa::path(
    delete, path = "/api/rules/{id}", operation_id = "deleteRule", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "The rule")),
    responses(
        (status = 204, description = "Deleted"),
    ),
)]
pub async fn delete(State(state): State<AppState>, caller: Caller, Id(id): Id<RuleId>) -> Result<StatusCode, Problem> {
    use_case::delete(&state.ledger, caller.scope(), id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Suspend a rule
///
/// It decides nothing until it is resumed. A repeat changes nothing. For admins.
#[utoipa::path(
    post, path = "/api/rules/{id}/suspend", operation_id = "suspendRule", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "The rule")),
    responses(
        (status = 200, description = "Suspended", body = Rule),
        (
            status = 409, description = "`wrong_status`: it is deleted",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn suspend(State(state): State<AppState>, caller: Caller, Id(id): Id<RuleId>) -> Result<Json<Rule>, Problem> {
    use_case::suspend(&state.ledger, caller.scope(), id).await?;
    read(&state, &caller, id).await
}

/// Resume a rule
///
/// It decides again. A repeat changes nothing. For admins who are signed in.
#[utoipa::path(
    post, path = "/api/rules/{id}/resume", operation_id = "resumeRule", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "The rule")),
    responses(
        (status = 200, description = "Active", body = Rule),
        (
            status = 409, description = "`wrong_status`: it is deleted, or has expired",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn resume(State(state): State<AppState>, caller: Caller, Id(id): Id<RuleId>) -> Result<Json<Rule>, Problem> {
    use_case::resume(&state.ledger, caller.scope(), id).await?;
    read(&state, &caller, id).await
}

/// Test a rule against the past
///
/// What a rule would have decided in the last 90 days, beside what people decided. Nothing is written. At most the
/// 1,000 newest approvals of the agent and tool are compared; those of private and incognito sessions are left out.
/// For admins.
#[utoipa::path(
    post, path = "/api/rules/back-test", operation_id = "backTestRule", tag = "approvals",
    request_body = NewRule,
    responses(
        (status = 200, description = "The comparison", body = BackTest),
    ),
)]
pub async fn back_test(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<NewRule>,
) -> Result<Json<BackTest>, Problem> {
    let tested = use_case::back_test(&state.ledger, caller.scope(), wire_map::new_rule(body)).await?;
    Ok(Json(wire_map::back_test(tested)))
}

/// List the decisions of a rule
///
/// Newest first.
#[utoipa::path(
    get, path = "/api/rules/{id}/decisions", operation_id = "listRuleDecisions", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "The rule"), PageQuery),
    responses(
        (status = 200, description = "A page", body = Page<RuleDecision>),
    ),
)]
pub async fn decisions(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<RuleId>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<RuleDecision>>, Problem> {
    let listed = use_case::decisions(&state.ledger, caller.scope(), id, query.into()).await?;
    Ok(Json(wire_map::page(listed, wire_map::rule_decision)))
}

async fn read(state: &AppState, caller: &Caller, id: RuleId) -> Result<Json<Rule>, Problem> {
    let rule = use_case::get(&state.ledger, caller.scope(), id).await?;
    Ok(Json(wire_map::rule(rule)))
}
