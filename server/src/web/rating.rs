//! The rating question after a session, and its answers.

use super::{
    chat,
    form::Form,
    session,
    shell::{PageRejection, Viewer},
};
use crate::{extract::Id, problem::Problem, state::AppState};
use app::session::Rating;
use axum::{
    Router,
    extract::State,
    http::header::SET_COOKIE,
    response::{IntoResponse, Redirect, Response},
    routing::post,
};
use domain::{
    id::SessionId,
    session_feedback::{Label, Surface},
};
use ledger::{
    SessionRecord,
    feedback::{self, Prompt},
};
use wire::Code;

/// Value of the form for dismissing the question.
const DISMISS: &str = "dismiss";
const UNDO: &str = "undo";

pub fn router() -> Router<AppState> {
    Router::new().route("/sessions/{id}/feedback", post(answer))
}

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

/// Records the answer. Sending the same answer twice has the effect of one. Dismissing records
/// nothing on the server: a cookie remembers it for this person and this session.
async fn answer(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let is_chat = form.text("place") == "/chat";
    let back = if is_chat { format!("/chat/{id}") } else { format!("/sessions/{id}") };
    match give(&state, &viewer, id, &form.text("answer")).await {
        Ok(is_dismissed) => {
            let mut response = Redirect::to(&back).into_response();
            if is_dismissed {
                dismiss(&state, &viewer, id, &mut response);
            }
            Ok(response)
        }
        Err(problem) if is_chat => chat::refused(&state, viewer, id, &form, "rating", problem).await,
        Err(problem) => session::refused(&state, viewer, id, &form, "rating", problem).await,
    }
}

/// Applies the answer. Returns whether the question was dismissed.
async fn give(state: &AppState, viewer: &Viewer, id: SessionId, answer: &str) -> Result<bool, Problem> {
    if answer == DISMISS {
        // A session that the viewer cannot read is not dismissed.
        ledger::session::get(&state.ledger, &viewer.scope, id).await?;
        return Ok(true);
    }
    if answer == UNDO {
        feedback::undo(&state.ledger, &viewer.scope, id).await?;
        return Ok(false);
    }
    let wrong = || Problem::field(Code::InvalidRequest, "answer", "positive, negative, skip, dismiss or undo");
    let label = Label::parse(answer).ok_or_else(wrong)?;
    feedback::record(&state.ledger, &viewer.scope, id, label, Surface::WebEnd).await?;
    Ok(false)
}

/// Adds cookies that hide the question of this session from this person, on both of its pages.
pub fn dismiss(state: &AppState, viewer: &Viewer, id: SessionId, response: &mut Response) {
    let Some(user) = viewer.scope.user_id() else { return };
    for path in [format!("/sessions/{id}"), format!("/chat/{id}")] {
        if let Some(cookie) = state.cookies.dismiss_rating(user, &path) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
    }
}
