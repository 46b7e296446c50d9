//! Causes of failures.

use crate::{
    extract::{Caller, Id, JsonBody, Limit, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use domain::{
    Timestamp,
    failure::cause::{CauseState, Window},
    id::CauseId,
};
use ledger::{
    ListPage,
    failure::cause::{self as use_case, ListCauses, When},
};
use serde::Deserialize;
use wire::{
    Page,
    failure_cause::{CauseRunAgain, CausedFailure, FailureCause, FailureCauses, RunCauseAgain, SnoozeCause},
};

/// Time zone of the weekend when the caller names none.
const TIMEZONE: &str = "UTC";

/// The time range of a query.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhenQuery {
    /// `visit` is the time since the person last looked, seven days for a token; `weekend` is Friday 17:00 to Monday
    /// 9:00. Default: `visit`.
    #[param(value_type = Option<wire::schema::FailureWindow>)]
    window: Option<Window>,
    /// Beginning of the range, in place of a name. At most 90 days before its end.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// End of the range; now when absent. Only with `since`.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// Time zone of the weekend; default UTC.
    #[param(value_type = Option<wire::schema::TimeZone>)]
    timezone: Option<String>,
}

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// `visit` is the time since the person last looked, seven days for a token; `weekend` is Friday 17:00 to Monday
    /// 9:00. Default: `visit`.
    #[param(value_type = Option<wire::schema::FailureWindow>)]
    window: Option<Window>,
    /// Beginning of the range, in place of a name. At most 90 days before its end.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// End of the range; now when absent. Only with `since`.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// Time zone of the weekend; default UTC.
    #[param(value_type = Option<wire::schema::TimeZone>)]
    timezone: Option<String>,
    /// Only causes in this state; all when absent.
    #[param(value_type = Option<wire::schema::CauseState>)]
    state: Option<CauseState>,
    /// Words that the code, tool, step or message has, and conditions: `agent:scout`, `error:"rate limit"`. A minus
    /// excludes. Another field is refused.
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

/// The query of [`sessions`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionsQuery {
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

impl From<WhenQuery> for When {
    fn from(query: WhenQuery) -> Self {
        let WhenQuery { window, since, until, timezone } = query;
        Self { window, since, until, timezone: timezone.unwrap_or_else(|| TIMEZONE.to_owned()) }
    }
}

impl From<ListQuery> for ListCauses {
    fn from(query: ListQuery) -> Self {
        let ListQuery { window, since, until, timezone, state, q, limit, cursor } = query;
        Self { when: WhenQuery { window, since, until, timezone }.into(), state, line: q, limit: limit.0, cursor }
    }
}

/// List causes of failures
///
/// Failures with the same error code, tool, step and normalised message are one cause. Only causes with a failure in
/// the time range are listed, those with the newest failure first. Failures of incognito sessions have no cause. At
/// most 100,000 failures of a range are counted, the newest.
#[utoipa::path(
    get, path = "/api/failure-causes", operation_id = "listFailureCauses", tag = "sessions",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = FailureCauses),
        (
            status = 422, description = "`invalid_request`: a wrong range, an unknown time zone, or `q` is no search",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<FailureCauses>, Problem> {
    let listed = use_case::list(&state.ledger, caller.scope(), query.into()).await?;
    let progress = use_case::progress(&state.ledger).await?;
    Ok(Json(wire_map::failure_causes(listed, progress)))
}

/// Read a cause of failures
#[utoipa::path(
    get, path = "/api/failure-causes/{id}", operation_id = "getFailureCause", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The cause"), WhenQuery),
    responses(
        (status = 200, description = "The cause, with its failures in the time range counted", body = FailureCause),
        (
            status = 404, description = "`not_found`: no such cause",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: a wrong range or an unknown time zone",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn get(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<CauseId>,
    Params(query): Params<WhenQuery>,
) -> Result<Json<FailureCause>, Problem> {
    let (cause, _) = use_case::get(&state.ledger, caller.scope(), id, query.into()).await?;
    Ok(Json(wire_map::failure_cause(cause)))
}

/// List the failures of a cause
///
/// Newest first, whenever they were.
#[utoipa::path(
    get, path = "/api/failure-causes/{id}/sessions", operation_id = "listFailuresOfCause", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The cause"), SessionsQuery),
    responses(
        (status = 200, description = "A page", body = Page<CausedFailure>),
        (
            status = 404, description = "`not_found`: no such cause",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn sessions(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<CauseId>,
    Params(query): Params<SessionsQuery>,
) -> Result<Json<Page<CausedFailure>>, Problem> {
    let page = ListPage { limit: query.limit.0, cursor: query.cursor };
    let listed = use_case::sessions(&state.ledger, caller.scope(), id, page).await?;
    Ok(Json(wire_map::page(listed, wire_map::caused_failure)))
}

/// Acknowledge a cause
///
/// Records that someone has seen it. Further failures of it change nothing. A repeat changes nothing.
#[utoipa::path(
    post, path = "/api/failure-causes/{id}/acknowledge", operation_id = "acknowledgeFailureCause", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The cause")),
    responses(
        (status = 200, description = "The cause, with the failures of seven days counted", body = FailureCause),
        (
            status = 403, description = "`forbidden`: the caller is no operator",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 404, description = "`not_found`: no such cause",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn acknowledge(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<CauseId>,
) -> Result<Json<FailureCause>, Problem> {
    Ok(Json(wire_map::failure_cause(use_case::acknowledge(&state.ledger, caller.scope(), id).await?)))
}

/// Snooze a cause
///
/// Sets it aside until a time, at which it opens again by itself.
#[utoipa::path(
    post, path = "/api/failure-causes/{id}/snooze", operation_id = "snoozeFailureCause", tag = "sessions",
    request_body = SnoozeCause,
    params(("id" = uuid::Uuid, Path, description = "The cause")),
    responses(
        (status = 200, description = "The cause, with the failures of seven days counted", body = FailureCause),
        (
            status = 403, description = "`forbidden`: the caller is no operator",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 404, description = "`not_found`: no such cause",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: the time is not in the future, or too far away",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn snooze(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<CauseId>,
    JsonBody(body): JsonBody<SnoozeCause>,
) -> Result<Json<FailureCause>, Problem> {
    Ok(Json(wire_map::failure_cause(use_case::snooze(&state.ledger, caller.scope(), id, body.until).await?)))
}

/// Resolve a cause
///
/// Records that it is fixed. The next failure of it opens it again: `reopenedAt` says when that was. A repeat changes
/// nothing until then.
#[utoipa::path(
    post, path = "/api/failure-causes/{id}/resolve", operation_id = "resolveFailureCause", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The cause")),
    responses(
        (status = 200, description = "The cause, with the failures of seven days counted", body = FailureCause),
        (
            status = 403, description = "`forbidden`: the caller is no operator",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 404, description = "`not_found`: no such cause",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn resolve(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<CauseId>,
) -> Result<Json<FailureCause>, Problem> {
    Ok(Json(wire_map::failure_cause(use_case::resolve(&state.ledger, caller.scope(), id).await?)))
}

/// Reopen a cause
///
/// Takes back what was decided about it. A repeat changes nothing.
#[utoipa::path(
    post, path = "/api/failure-causes/{id}/reopen", operation_id = "reopenFailureCause", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The cause")),
    responses(
        (status = 200, description = "The cause, with the failures of seven days counted", body = FailureCause),
        (
            status = 403, description = "`forbidden`: the caller is no operator",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 404, description = "`not_found`: no such cause",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn reopen(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<CauseId>,
) -> Result<Json<FailureCause>, Problem> {
    Ok(Json(wire_map::failure_cause(use_case::reopen(&state.ledger, caller.scope(), id).await?)))
}

/// Run sessions of a cause again
///
/// Each becomes a new session, as with `retrySession`. A session that was run again before is left alone, so that the
/// request can be repeated: a repeat with a range goes on with the next sessions. With `preview`, nothing is started.
#[utoipa::path(
    post, path = "/api/failure-causes/{id}/run-again", operation_id = "runFailureCauseAgain", tag = "sessions",
    request_body = RunCauseAgain,
    params(("id" = uuid::Uuid, Path, description = "The cause")),
    responses(
        (status = 200, description = "What happened to each session, or would happen", body = CauseRunAgain),
        (
            status = 403, description = "`forbidden`: the caller may not start sessions",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 404, description = "`not_found`: no such cause",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 422, description = "`invalid_request`: no or too many sessions, one of another cause, or a wrong range",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn run_again(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<CauseId>,
    JsonBody(body): JsonBody<RunCauseAgain>,
) -> Result<Json<CauseRunAgain>, Problem> {
    let request = wire_map::run_again(body)?;
    Ok(Json(wire_map::ran_again(use_case::run_again(&state.ledger, caller.scope(), id, request).await?)))
}
