//! /insights

use super::shell::{PageRejection, Viewer, render};
use crate::{state::AppState, wire_map};
use app::insights::{self as ui, Props, WINDOWS};
use axum::{
    Router,
    extract::{Query, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use ledger::{action, insight};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Actions whose rows lead to their sessions.
const ACTIONS_MAX: u32 = 1_000;

pub fn router() -> Router<AppState> {
    Router::new().route("/insights", get(show))
}

#[derive(Default, Deserialize)]
struct Window {
    days: Option<String>,
}

/// An address with a window that is not offered shows the usual one.
async fn show(
    State(state): State<AppState>,
    viewer: Viewer,
    Query(query): Query<Window>,
) -> Result<Response, PageRejection> {
    let asked = query.days.and_then(|days| days.parse().ok()).filter(|days| WINDOWS.contains(days));
    let days = asked.unwrap_or(WINDOWS[0]);
    let record = insight::read_window(&state.ledger, &viewer.scope, days).await?;
    let wanted = action::ListActions { limit: ACTIONS_MAX, ..Default::default() };
    let actions = action::list(&state.ledger, &viewer.scope, wanted).await?.items;
    let link = |action: ledger::ActionRecord| (action.slug, format!("/sessions?actionId={}", action.id));
    let action_links: BTreeMap<_, _> = actions.into_iter().map(link).collect();
    let props = Props { days, insights: wire_map::insights(record, state.turn_capture.failures()), action_links };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}
