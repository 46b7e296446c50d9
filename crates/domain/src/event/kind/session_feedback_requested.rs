//! `session.feedback_requested`: an agent asked people.

use super::payload::{Payload, json_text, read_fields, text_content, text_of};
use crate::{
    Timestamp,
    feedback_request::OnExpiry,
    id::{FeedbackRequestId, ViewId},
    view::Gate,
};
use serde::{Deserialize, Serialize};

/// A request for feedback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackRequested {
    /// The question.
    #[serde(skip)]
    pub message: Option<String>,
    /// Answers refer to it.
    pub request_id: FeedbackRequestId,
    /// The form to fill in.
    pub view_id: ViewId,
    /// Version of the form.
    pub version: u64,
    /// Whether the session waits for the answer.
    pub blocking: bool,
    /// Who may answer.
    pub gate: Gate,
    /// Group that is asked.
    pub audience: Option<String>,
    /// When the request expires (UTC).
    pub expires_at: Option<Timestamp>,
    /// What happens then.
    pub on_expiry: OnExpiry,
    /// Attempt that asked.
    pub attempt: u32,
}

impl Payload for FeedbackRequested {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { message: text_of(content), ..read_fields(metadata)? })
    }

    fn content(&self) -> String {
        text_content(self.message.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(self)
    }

    fn sentence(&self) -> Option<String> {
        Some(
            self.message
                .as_deref()
                .map_or_else(|| "Asked people".to_owned(), |message| format!("Asked people: {message}")),
        )
    }
}
