//! Failures of sessions.

use crate::{
    extract::{Caller, Id, Limit, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use domain::{failure::FailureState, id::SessionId};
use ledger::failure as use_case;
use serde::Deserialize;
use wire::{Page, failure::Failure};

/// The query of [`list`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListQuery {
    /// `open` or `acknowledged`; both when absent.
    #[param(value_type = Option<wire::schema::FailureState>)]
    state: Option<FailureState>,
    /// 1 to 1,000; default 100.
    #[serde(default)]
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Limit,
    /// `nextCursor` of the page before.
    #[param(value_type = Option<wire::schema::Cursor>)]
    cursor: Option<String>,
}

/// List failures
///
/// Each session that ended as failed or expired has a failure, which names a possible remedy. Newest first.
#[utoipa::path(
    get, path = "/api/failures", operation_id = "listFailures", tag = "sessions",
    params(ListQuery),
    responses(
        (status = 200, description = "A page", body = Page<Failure>),
    ),
)]
pub async fn list(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<ListQuery>,
) -> Result<Json<Page<Failure>>, Problem> {
    let wanted = use_case::ListFailures { state: query.state, limit: query.limit.0, cursor: query.cursor };
    let listed = use_case::list(&state.ledger, caller.scope(), wanted).await?;
    Ok(Json(wire_map::page(listed, wire_map::session_failure)))
}

/// Acknowledge a failure
///
/// Records that a person has taken note of the failure. A repeated request is answered with the first acknowledgement.
#[utoipa::path(
    post, path = "/api/failures/{id}/acknowledge", operation_id = "acknowledgeFailure", tag = "sessions",
    params(("id" = uuid::Uuid, Path, description = "The session that failed")),
    responses(
        (status = 200, description = "The failure", body = Failure),
        (
            status = 403, description = "`forbidden`: someone else's session, and the caller is no operator",
            body = wire::Problem, content_type = "application/problem+json",
        ),
        (
            status = 404, description = "`not_found`: no such session, or it did not fail",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn acknowledge(
    State(state): State<AppState>,
    caller: Caller,
    Id(id): Id<SessionId>,
) -> Result<Json<Failure>, Problem> {
    let record = use_case::acknowledge(&state.ledger, caller.scope(), id).await?;
    Ok(Json(wire_map::session_failure(record)))
}
