//! Cancelling a session, running it again, acknowledging its failure, and rating it.

use super::Backend;
use crate::{problem::Problem, wire_map::parse_id};
use app::{
    server_function::{Created, Refusal},
    session::SessionBackend,
};
use async_trait::async_trait;
use domain::{
    id::SessionId,
    session_feedback::{Label, Surface},
};
use ledger::{failure, feedback, session};
use wire::Code;

#[async_trait]
impl SessionBackend for Backend {
    async fn cancel(&self, session_id: String, reason: Option<String>) -> Result<(), Refusal> {
        let id = self.session_id(&session_id)?;
        let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        self.answer(session::cancel(&self.state.ledger, self.scope(), id, reason).await).map(drop)
    }

    async fn retry(&self, session_id: String) -> Result<Created, Refusal> {
        let id = self.session_id(&session_id)?;
        let new = self.answer(session::retry(&self.state.ledger, self.scope(), id).await)?;
        Ok(Created { id: new.id.to_string() })
    }

    async fn acknowledge(&self, session_id: String) -> Result<(), Refusal> {
        let id = self.session_id(&session_id)?;
        self.answer(failure::acknowledge(&self.state.ledger, self.scope(), id).await).map(drop)
    }

    async fn rate(&self, session_id: String, label: String) -> Result<(), Refusal> {
        let id = self.session_id(&session_id)?;
        let label = self.answer(label_of("label", &label))?;
        self.answer(feedback::record(&self.state.ledger, self.scope(), id, label, Surface::WebEnd).await).map(drop)
    }

    async fn undo_rating(&self, session_id: String) -> Result<(), Refusal> {
        let id = self.session_id(&session_id)?;
        self.answer(feedback::undo(&self.state.ledger, self.scope(), id).await).map(drop)
    }

    async fn dismiss_rating(&self, session_id: String) -> Result<(), Refusal> {
        let id = self.session_id(&session_id)?;
        // A session that the caller cannot read is not dismissed.
        self.answer(session::get(&self.state.ledger, self.scope(), id).await)?;
        self.remember_dismissal(id);
        Ok(())
    }
}

/// Reads a rating.
pub(super) fn label_of(field: &str, text: &str) -> Result<Label, Problem> {
    Label::parse(text).ok_or_else(|| Problem::field(Code::InvalidRequest, field, "positive, negative or skip"))
}

impl Backend {
    pub(super) fn session_id(&self, text: &str) -> Result<SessionId, Refusal> {
        self.answer(parse_id("session_id", text))
    }

    /// Lets the browser remember that this person is not asked about this session any more, on both of its pages.
    pub(super) fn remember_dismissal(&self, id: SessionId) {
        let Some(user) = self.scope().user_id() else { return };
        for path in [format!("/sessions/{id}"), format!("/chat/{id}")] {
            self.set_cookie(self.state.cookies.dismiss_rating(user, &path));
        }
    }
}
