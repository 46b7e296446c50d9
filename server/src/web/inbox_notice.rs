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
use domain::{
    id::{SessionId, UserId},
    session::{Session, Status},
};
use ledger::{
    gate::{GateItem, MayDecide},
    page::inbox::{self as page, Waiting},
};
use serde_json::{Value, json};

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
    let notice = match page::waiting(&state.ledger, &viewer.scope, id).await? {
        Waiting::Gate(item) => of_gate(*item),
        Waiting::Session(session) => of_session(&session, viewer.scope.user_id()),
    };
    Ok(notice.map_or_else(|| StatusCode::NO_CONTENT.into_response(), |notice| Json(notice).into_response()))
}

/// The text about a gate, if the viewer may decide it and has not snoozed it.
fn of_gate(item: GateItem) -> Option<Value> {
    if item.may_decide != MayDecide::Yes || item.snoozed_until.is_some() {
        return None;
    }
    let item = wire_map::approval(item);
    let (title, body) = ui::notification(&item);
    let path = format!("/inbox/{}", item.id);
    Some(json!({ "key": item.id, "path": path, "title": title, "body": body }))
}

/// The text about the viewer's own session, if it waits in the terminal where it runs.
fn of_session(session: &Session, viewer_id: Option<UserId>) -> Option<Value> {
    let is_own = session.user_id.is_some() && session.user_id == viewer_id;
    if !is_own || session.status() != Status::WaitingHuman {
        return None;
    }
    // Each question of an agent in its terminal gets its own key.
    let key = format!("{}-{}", session.id, session.updated_at.timestamp_micros());
    let path = format!("/sessions/{}", session.id);
    let title = format!("{} is waiting for you", session.agent_slug.as_deref().unwrap_or("An agent"));
    let body = "It is asking in the terminal where it runs.";
    Some(json!({ "key": key, "path": path, "title": title, "body": body }))
}
