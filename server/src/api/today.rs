//! The work-queue strip.

use crate::{
    extract::{Caller, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use ledger::work_queue;
use serde::Deserialize;
use wire::count::WorkQueueCounts;

/// The query of [`work_queue_counts`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CountsQuery {
    /// An IANA zone such as `Europe/Berlin`: whose day "today" is. Default `UTC`.
    #[serde(default = "utc")]
    #[param(required = false)]
    timezone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// Count the caller's work queue
///
/// Five buckets, counted in one round trip.
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
    let counts = work_queue::counts(&state.ledger, caller.scope(), &query.timezone).await?;
    Ok(Json(wire_map::counts(&counts)))
}
