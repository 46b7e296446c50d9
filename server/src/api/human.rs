//! Human sessions, and the context that agents get of a person's work.

use crate::{
    extract::{Caller, JsonBody, Params},
    problem::Problem,
    state::AppState,
    wire_map,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use ledger::human as use_case;
use serde::Deserialize;
use wire::{human, session::Session};

/// Read what the caller works on
///
/// For people only: a token has no working session.
#[utoipa::path(
    get, path = "/api/sessions/human/active", operation_id = "getActiveHumanSession", tag = "people",
    responses(
        (status = 200, description = "The running session and its task, or no session", body = human::ActiveHuman),
    ),
)]
pub async fn active(State(state): State<AppState>, caller: Caller) -> Result<Json<human::ActiveHuman>, Problem> {
    Ok(Json(wire_map::active_human(use_case::active(&state.ledger, caller.scope()).await?)))
}

/// Start working on a task
///
/// The caller's running working session ends at the same time, as `completed` with end reason `superseded`. If the
/// caller works on this task already, the answer is the running session. For people only.
#[utoipa::path(
    post, path = "/api/sessions/human/start", operation_id = "startHumanSession",
    tag = "people", request_body = human::StartHuman,
    responses(
        (status = 200, description = "The running session", body = human::StartedHuman),
    ),
)]
pub async fn start(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<human::StartHuman>,
) -> Result<Json<human::StartedHuman>, Problem> {
    Ok(Json(wire_map::started_human(use_case::start(&state.ledger, caller.scope(), body.task_id).await?)))
}

/// Stop working
///
/// Ends the caller's own working session as `completed`. If it has ended already, the answer is the ended session.
#[utoipa::path(
    post, path = "/api/sessions/human/stop", operation_id = "stopHumanSession",
    tag = "people", request_body = human::StopHuman,
    responses(
        (status = 200, description = "The session as it ended", body = Session),
    ),
)]
pub async fn stop(
    State(state): State<AppState>,
    caller: Caller,
    JsonBody(body): JsonBody<human::StopHuman>,
) -> Result<Json<Session>, Problem> {
    Ok(Json(wire_map::session(use_case::stop(&state.ledger, caller.scope(), body.session_id).await?)))
}

/// The query of [`today`].
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct TodayQuery {
    /// IANA time zone in which the day begins and ends, such as `Europe/Berlin`. Default `UTC`.
    #[serde(default = "utc")]
    #[param(value_type = Option<wire::schema::TimeZone>)]
    timezone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// Read the caller's working day
///
/// The caller's own working sessions of the present day, and the time spent on each task in it.
#[utoipa::path(
    get, path = "/api/sessions/human/today", operation_id = "getHumanToday", tag = "people",
    params(TodayQuery),
    responses(
        (status = 200, description = "Time per task, and the sessions", body = human::HumanToday),
    ),
)]
pub async fn today(
    State(state): State<AppState>,
    caller: Caller,
    Params(query): Params<TodayQuery>,
) -> Result<Json<human::HumanToday>, Problem> {
    Ok(Json(wire_map::human_today(use_case::today(&state.ledger, caller.scope(), &query.timezone).await?)))
}

/// Read the context of a person for an agent
///
/// A short block of untrusted text: what the person works on, and their last events. The person is the caller, or the
/// owner of the token. With `Accept: text/plain` the answer is the text only, or 204 if there is none.
#[utoipa::path(
    get, path = "/api/sessions/human/recent-activity", operation_id = "getRecentActivity", tag = "people",
    responses(
        (
            status = 200, description = "The block; `text` is null while they work on nothing",
            content((human::RecentActivity = "application/json"), (String = "text/plain")),
        ),
        (status = 204, description = "Asked for text, and they work on nothing"),
    ),
)]
pub async fn recent_activity(
    State(state): State<AppState>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let block = use_case::recent_activity::recent_activity(&state.ledger, caller.scope()).await?;
    let answer = wire_map::recent_activity(block, state.ledger.now());
    Ok(match (wants_text(&headers), answer.text) {
        (true, Some(text)) => ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response(),
        (true, None) => StatusCode::NO_CONTENT.into_response(),
        (false, text) => Json(human::RecentActivity { text, ..answer }).into_response(),
    })
}

/// Whether the reader asked for plain text and not for JSON.
fn wants_text(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let kinds = || accept.split(',').map(|kind| kind.split(';').next().unwrap_or_default().trim());
    kinds().any(|kind| kind.eq_ignore_ascii_case("text/plain"))
        && !kinds().any(|kind| kind.eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_for_those_who_ask_for_it() {
        let wants = |accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            wants_text(&headers)
        };
        assert!(wants("text/plain") && wants("text/plain;q=0.9, text/markdown"));
        assert!(!wants("*/*") && !wants("application/json, text/plain") && !wants_text(&HeaderMap::new()));
    }
}
