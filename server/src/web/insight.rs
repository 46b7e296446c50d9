//! /insights

use super::{
    shell::{PageRejection, Viewer, render},
    stalled::stalled_of,
};
use crate::{extract::Params, state::AppState, wire_map};
use app::insight::{self as ui, Props, WINDOWS};
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use ledger::{ActionRecord, page::insight as page};
use serde::Deserialize;

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
    Params(query): Params<Window>,
) -> Result<Response, PageRejection> {
    let asked = query.days.and_then(|days| days.parse().ok()).filter(|days| WINDOWS.contains(days));
    let days = asked.unwrap_or(WINDOWS[0]);
    let page = page::read(&state.ledger, &viewer.scope, days).await?;
    let id = |action: ActionRecord| (action.slug, action.id.to_string());
    let action_ids = page.actions.into_iter().map(id).collect();
    let insights = wire_map::insights(page.record, state.turn_capture.failures());
    let props = Props { days, insights, action_ids, stalled: stalled_of(page.stalled) };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}
