//! Requests for answers of people.

use crate::{Client, Result};
use domain::id::{FeedbackRequestId, SessionId};
use wire::feedback_request::{AnswerRequest, Answered, AskFeedback, Asked, SessionContext, TakeAnswers};

impl Client {
    /// `POST /api/sessions/{id}/feedback-requests`: asks people. A repeat with the same key is the same request.
    pub async fn ask_feedback(&self, session_id: SessionId, ask: &AskFeedback) -> Result<Asked> {
        self.post(&["api", "sessions", &session_id.to_string(), "feedback-requests"], ask).await
    }

    /// `POST /api/feedback-requests/{id}/answer`: answers a request. A repeat is answered with what is recorded.
    pub async fn answer_request(&self, id: FeedbackRequestId, answer: &AnswerRequest) -> Result<Answered> {
        self.post(&["api", "feedback-requests", &id.to_string(), "answer"], answer).await
    }

    /// `POST /api/sessions/{id}/answers/take`: takes answers. If the response is lost, a repeat with the same key
    /// returns them again.
    pub async fn take_answers(&self, session_id: SessionId, take: &TakeAnswers) -> Result<SessionContext> {
        self.post(&["api", "sessions", &session_id.to_string(), "answers", "take"], take).await
    }
}
