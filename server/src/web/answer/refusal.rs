//! What a form's page answers when the posted answers are refused.

use super::question_page::FilledForm;
use app::form_page::Note;
use axum::http::StatusCode;
use domain::{issue::Issue, response::Closed};
use ledger::{Error, response::Form};

/// The answer to refused answers.
pub enum Refusal {
    /// The form again, with this status.
    Again(StatusCode, FilledForm),
    /// The page that says that the answers are recorded.
    Recorded,
    /// The page of a form that takes no answer.
    Closed(Closed),
    /// An error page.
    Failed(Error),
}

impl Refusal {
    /// Chooses the answer. `form` was read after the refusal, and `typed` is what the form shows again. A browser that
    /// keeps no cookies of the page cannot come back to what is recorded.
    pub fn of(error: Error, form: &Form, has_cookies: bool, typed: FilledForm) -> Self {
        match error {
            Error::Invalid(issues) => Self::Again(StatusCode::UNPROCESSABLE_ENTITY, FilledForm { issues, ..typed }),
            Error::StaleVersion { current, .. } => {
                Self::Again(StatusCode::CONFLICT, FilledForm { note: Some(Note::Elsewhere), rev: current, ..typed })
            }
            Error::FormChanged { .. } => {
                Self::Again(StatusCode::CONFLICT, FilledForm { note: Some(Note::Changed), ..typed })
            }
            Error::LimitReached(text) => {
                let issues = vec![Issue::new("", text)];
                Self::Again(StatusCode::UNPROCESSABLE_ENTITY, FilledForm { issues, ..typed })
            }
            // The browser went back to a form that it had submitted, and changed the answers.
            Error::IdConflict { .. } if form.closed.is_some() && has_cookies => Self::Recorded,
            // It saved a draft of a form that it had submitted.
            Error::FormClosed(_) if form.submitted.is_some() && has_cookies => Self::Recorded,
            Error::IdConflict { .. } => {
                let text = "These answers were submitted already. Submit again to send the changed answers as well.";
                let issues = vec![Issue::new("", text)];
                Self::Again(StatusCode::CONFLICT, FilledForm { issues, submission_id: None, ..typed })
            }
            Error::RequestClosed { .. } => Self::Closed(Closed::Cancelled),
            // The respondent answered the question in the inbox or over the API.
            Error::AlreadyAnswered(_) => Self::Closed(Closed::Answered),
            // The answers can be sent again when the decision is undone or has taken effect.
            Error::GateClosed { .. } => {
                Self::Again(StatusCode::CONFLICT, FilledForm { note: Some(Note::Held), ..typed })
            }
            Error::FormClosed(reason) => Self::Closed(reason),
            error => Self::Failed(error),
        }
    }
}
