//! Figures about the sessions of a number of days.

use crate::{
    extract::{Caller, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{Json, extract::State};
use ledger::insight as use_case;
use serde::Deserialize;
use wire::insight::Insights;

/// Default number of days.
const DAYS: u32 = 30;

/// The query of [`read`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Query {
    /// Number of days, today (UTC) included: 1 to 366; default 30.
    #[param(minimum = 1, maximum = 366)]
    days: Option<u32>,
}

/// Read insights
///
/// Figures about agent sessions that began and ended in these days: how they ended, how people rated them, what was
/// decided about their output, how long they waited for people, and what they cost. Sessions without a rating are
/// counted as unrated, never as negative. Answers are counted by their outcome, which is inferred from the next
/// message; the last answer has no next message, so its outcome is unknown. Runs of tools are counted by tool, apart
/// from the sessions of agents. If there are more than 100,000 sessions, gates, answers or runs, only the newest are
/// counted and `isCut` is true.
#[utoipa::path(
    get, path = "/api/insights", operation_id = "readInsights", tag = "sessions",
    params(Query),
    responses(
        (status = 200, description = "The figures", body = Insights),
        (
            status = 422, description = "`invalid_request`: `days` is out of range",
            body = wire::Problem, content_type = "application/problem+json",
        ),
    ),
)]
pub async fn read(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<Query>,
) -> Result<Json<Insights>, Problem> {
    let record = use_case::read_window(&state.ledger, caller.scope(), query.days.unwrap_or(DAYS)).await?;
    Ok(Json(wire_map::insights(record, state.turn_capture.failures())))
}
