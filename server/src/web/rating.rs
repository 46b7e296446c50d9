//! Whether a page asks for a rating of its session.

use super::shell::Viewer;
use crate::state::AppState;
use app::session::Rating;
use axum::{http::header::SET_COOKIE, response::Response};
use domain::id::SessionId;
use ledger::{
    SessionRecord,
    feedback::{self, Prompt},
};

/// Returns the question of a session for the viewer. If the ratings cannot be read, the page is shown without it.
pub async fn of(state: &AppState, viewer: &Viewer, session: &SessionRecord) -> Rating {
    match feedback::prompt(&state.ledger, &viewer.scope, session).await {
        Ok(Prompt::Given(label)) => Rating::Given(label),
        Ok(Prompt::Ask) if !viewer.is_rating_dismissed => Rating::Ask,
        // Without the instance key nothing can be rated.
        Ok(Prompt::Ask | Prompt::Silent) | Err(ledger::Error::NoInstanceKey) => Rating::Silent,
        Err(error) => {
            tracing::warn!(%error, "a page is shown without its rating");
            Rating::Silent
        }
    }
}

/// Lets the browser remember that this person is not asked about this session any more, on both of its pages.
pub fn dismiss(state: &AppState, viewer: &Viewer, id: SessionId, response: &mut Response) {
    let Some(user) = viewer.scope.user_id() else { return };
    for path in [format!("/sessions/{id}"), format!("/chat/{id}")] {
        if let Some(cookie) = state.cookies.dismiss_rating(user, &path) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
    }
}
