//! The text of a browser notification about a session that waits for the viewer: which agent waits, and the address of
//! the item. The text never contains what the agent proposes.

use super::shell::{PageRejection, Viewer};
use crate::{extract::Id, state::AppState, wire_map};
use app::inbox as ui;
use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{id::SessionId, session::Status};
use ledger::{
    gate::{self, MayDecide},
    session,
};
use serde_json::json;

pub fn router() -> Router<AppState> {
    Router::new().route("/inbox/waiting/{id}", get(waiting))
}

/// Answers `{key, path, title, body}`, or no content if the session does not wait for the viewer. `key` stays the same
/// as long as the session waits for the same decision.
async fn waiting(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
) -> Result<Response, PageRejection> {
    let gates = gate::of_sessions(&state.ledger, &viewer.scope, vec![id]).await?;
    if let Some(item) = gates.into_iter().next() {
        if item.may_decide != MayDecide::Yes || item.snoozed_until.is_some() {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        let item = wire_map::approval(item);
        let (title, body) = ui::notification(&item);
        let path = format!("/inbox/{}", item.id);
        return Ok(Json(json!({ "key": item.id, "path": path, "title": title, "body": body })).into_response());
    }
    let session = session::get(&state.ledger, &viewer.scope, id).await?;
    let is_own = session.user_id.is_some() && session.user_id == viewer.scope.user_id();
    if !is_own || session.status() != Status::WaitingHuman {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    // Each question of an agent in its terminal gets its own key.
    let key = format!("{id}-{}", session.updated_at.timestamp_micros());
    let title = format!("{} is waiting for you", session.agent_slug.as_deref().unwrap_or("An agent"));
    let notice = json!({ "key": key, "path": format!("/sessions/{id}"), "title": title, "body": "It is asking in the terminal where it runs." });
    Ok(Json(notice).into_response())
}
