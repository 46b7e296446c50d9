//! Requests for answers of people.

use crate::{Client, Result};
use wire::{
    feedback_request::{AnswerRequest, Answered, AskFeedback, Asked, SessionContext},
    worker::Attempt,
};

impl Client {
    /// `POST /api/sessions/{id}/feedback-requests`: asks people. A repeat with the same key is the same request.
    pub async fn ask_feedback(&self, session_id: &str, ask: &AskFeedback) -> Result<Asked> {
        self.post(&["api", "sessions", session_id, "feedback-requests"], ask).await
    }

    /// `POST /api/feedback-requests/{id}/answer`: answers a request. A repeat is answered with what is recorded.
    pub async fn answer_request(&self, id: &str, answer: &AnswerRequest) -> Result<Answered> {
        self.post(&["api", "feedback-requests", id, "answer"], answer).await
    }

    /// `POST /api/sessions/{id}/answers/take`: takes answers. If the response is lost, the log has them.
    pub async fn take_answers(&self, session_id: &str, attempt: u32) -> Result<SessionContext> {
        self.post(&["api", "sessions", session_id, "answers", "take"], &Attempt { attempt }).await
    }
}
