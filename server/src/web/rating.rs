//! Whether a page asks for a rating of its session.

use super::shell::Viewer;
use crate::state::AppState;
use app::session::Rating;
use domain::session::Session;
use ledger::feedback::{self, Prompt};

/// Returns the question of a session for the viewer. If the ratings cannot be read, the page is shown without it.
pub async fn of(state: &AppState, viewer: &Viewer, session: &Session) -> Rating {
    match feedback::prompt(&state.ledger, &viewer.scope, session).await {
        Ok(Prompt::Rated(label)) => label.into(),
        Ok(Prompt::Ask) if !viewer.is_rating_dismissed => Rating::Ask,
        // Without the instance key nothing can be rated.
        Ok(Prompt::Ask | Prompt::Silent) | Err(ledger::Error::NoInstanceKey) => Rating::Silent,
        Err(error) => {
            tracing::warn!(%error, "a page is shown without its rating");
            Rating::Silent
        }
    }
}
