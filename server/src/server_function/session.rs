//! Cancelling a session, running it again, acknowledging its failure, making an entity from a response, and rating it.

use super::Backend;
use crate::{problem::Problem, wire_map::parse_id};
use app::{
    server_function::{Created, Refusal},
    session::SessionBackend,
};
use async_trait::async_trait;
use domain::{
    id::SessionId,
    issue::Issue,
    session_feedback::{Label, Surface},
};
use ledger::{
    failure, feedback,
    response::{self, Promote, PromoteTo},
    session,
};
use std::collections::BTreeMap;
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

    async fn promote(&self, session_id: String, to: String, title: Option<String>) -> Result<(), Refusal> {
        let id = self.session_id(&session_id)?;
        let to = self.answer(promote_to(&to))?;
        let title = title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
        let promote = Promote { to, title, fields: BTreeMap::new() };
        let promoted = response::promote(&self.state.ledger, self.scope(), id, promote).await;
        self.answer(promoted.map_err(named_as_in_the_form)).map(drop)
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

/// Reads what makes an entity from a response.
fn promote_to(text: &str) -> Result<PromoteTo, Problem> {
    match text.split_once(':') {
        Some(("type", id)) => parse_id("to", id).map(PromoteTo::Type),
        Some(("task", id)) => parse_id("to", id).map(PromoteTo::Action),
        _ => Err(Problem::field(Code::InvalidRequest, "to", "choose an entity type or a task")),
    }
}

/// Names the fields of a refused promotion as its form does: without the part of the request or of the output that
/// contains them.
fn named_as_in_the_form(error: ledger::Error) -> ledger::Error {
    let named = |issue: Issue| {
        let name = match issue.field.as_str() {
            "actionId" | "typeId" => "to",
            field => ["result.", "fields."].into_iter().find_map(|part| field.strip_prefix(part)).unwrap_or(field),
        };
        Issue::new(name, issue.message)
    };
    match error {
        ledger::Error::Invalid(issues) => ledger::Error::Invalid(issues.into_iter().map(named).collect()),
        other => other,
    }
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
