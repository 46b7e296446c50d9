//! The browsable API document.

use super::shell::{Visitor, render};
use crate::{api::document_json, extract::identify, problem::Problem, state::AppState, wire_map};
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::get,
};

pub fn router() -> Router<AppState> {
    Router::new().route("/api/docs", get(show))
}

async fn show(
    State(state): State<AppState>,
    headers: HeaderMap,
    Visitor(mut shell): Visitor,
) -> Result<Response, Problem> {
    shell.viewer = identify(&state, &headers).await?.map(wire_map::me);
    let document: serde_json::Value =
        serde_json::from_str(document_json()).map_err(|e| Problem::internal(e.to_string()))?;
    Ok(render(StatusCode::OK, move || app::api_docs::page(&shell, &document)).await)
}
