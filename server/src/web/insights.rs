//! /insights

use super::shell::{Turned, Viewer, render};
use crate::{state::AppState, wire_map};
use app::insights::{self as ui, Props, WINDOWS};
use axum::{
    Router,
    extract::{Query, State},
    http::StatusCode,
    response::Response,
    routing::get,
};
use ledger::insight;
use serde::Deserialize;

pub fn router() -> Router<AppState> {
    Router::new().route("/insights", get(show))
}

#[derive(Default, Deserialize)]
struct Window {
    days: Option<String>,
}

/// An address with a window that is not offered shows the usual one.
async fn show(State(state): State<AppState>, viewer: Viewer, Query(query): Query<Window>) -> Result<Response, Turned> {
    let asked = query.days.and_then(|days| days.parse().ok()).filter(|days| WINDOWS.contains(days));
    let days = asked.unwrap_or(WINDOWS[0]);
    let record = insight::of_window(&state.ledger, &viewer.scope, days).await?;
    let props = Props { days, insights: wire_map::insights(record, state.lake.failures()) };
    Ok(render(StatusCode::OK, move || ui::page(&viewer.shell, props)).await)
}
