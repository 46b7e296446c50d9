//! Counts of the work queue.

use crate::{
    extract::{Caller, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use ledger::work_queue::{self, QueueScope};
use serde::Deserialize;
use wire::count::WorkQueueCounts;

/// Whose queue is counted.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AssignedTo {
    #[default]
    Me,
    All,
}

/// The query of [`work_queue_counts`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CountsQuery {
    /// me (default): the caller's tasks and the approvals that they may decide; all: the whole workspace.
    #[serde(default)]
    #[param(value_type = Option<wire::schema::ApprovalsOf>)]
    assigned_to: AssignedTo,
    /// IANA time zone in which the day begins, such as `Europe/Berlin`. Default `UTC`.
    #[serde(default = "utc")]
    #[param(value_type = Option<wire::schema::TimeZone>)]
    timezone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// Count the work queue
///
/// The number of sessions or tasks in each of five buckets. A token has no tasks of its own: use `assignedTo=all`.
#[utoipa::path(
    get, path = "/api/today/work-queue-counts", operation_id = "getWorkQueueCounts", tag = "today",
    params(CountsQuery),
    responses(
        (status = 200, description = "The five counts", body = WorkQueueCounts),
    ),
)]
pub async fn work_queue_counts(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<CountsQuery>,
) -> Result<Json<WorkQueueCounts>, Problem> {
    let whose = match query.assigned_to {
        AssignedTo::Me => QueueScope::Mine,
        AssignedTo::All => QueueScope::Everyone,
    };
    let counts = work_queue::counts(&state.ledger, caller.scope(), whose, &query.timezone).await?;
    Ok(Json(wire_map::counts(&counts)))
}
