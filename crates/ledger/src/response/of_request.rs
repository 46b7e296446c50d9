//! A response to a question of an agent: its answers reach the agent in the transaction of the submission.

use super::Respondent;
use crate::{
    Ledger, Result,
    feedback_request::{AnswerOf, NewAnswer, answer_on},
};
use domain::{
    feedback_request::{Outcome, Respondent as Answering},
    id::{FeedbackRequestId, SessionId, TokenId, UserId},
    response::{LEAD_EMAIL, RespondentKind},
    view::Answers,
};
use serde_json::Value;
use store::WriteTx;
use uuid::Uuid;

/// The question, and the ids of its answer and events, which are drawn before the transaction.
#[derive(Clone)]
pub(super) struct OfRequest {
    id: FeedbackRequestId,
    answer: AnswerOf,
}

impl OfRequest {
    /// Draws the ids; `None` for a response to a plain form.
    pub(super) fn new(ledger: &Ledger, respondent: &Respondent, request_id: Option<Uuid>) -> Option<Self> {
        let id = FeedbackRequestId(request_id?);
        Some(Self { id, answer: AnswerOf::new(ledger, respondent.caller(), answering(respondent, String::new())) })
    }

    /// Records the answers for the agent. Returns whether they came too late for it.
    ///
    /// # Errors
    /// [`Error::RequestClosed`](crate::Error::RequestClosed) if the question was cancelled with its session.
    pub(super) async fn answer(
        mut self,
        tx: &mut WriteTx<'_>,
        respondent: &Respondent,
        response_session_id: SessionId,
        answers: &Answers,
    ) -> Result<bool> {
        if let Some(lead) = respondent.lead_entity_id() {
            let lead = store::entity::find(tx.conn(), respondent.tenant_id(), lead).await?;
            let lead = lead.filter(|lead| lead.erased_at.is_none());
            let label = lead.map(|lead| match lead.fields.get(LEAD_EMAIL).and_then(Value::as_str) {
                Some(email) => format!("{} <{email}>", lead.title),
                None => lead.title,
            });
            self.answer.respondent = answering(respondent, label.unwrap_or_default());
        }
        self.answer.response_session_id = Some(response_session_id);
        let new = NewAnswer { outcome: Outcome::Answered, answers: Some(answers.clone()), note: None };
        let answered = answer_on(tx, respondent.tenant_id(), self.id, self.answer, new).await?;
        Ok(answered.answer.late)
    }
}

/// The respondent as the agent's question knows them. `label` is what a lead says about themselves.
fn answering(respondent: &Respondent, label: String) -> Answering {
    let id = respondent.id();
    match respondent.kind() {
        RespondentKind::User => Answering::user(UserId(id)),
        RespondentKind::Token => Answering::token(TokenId(id)),
        RespondentKind::Browser => Answering::browser(&id.simple().to_string()),
        RespondentKind::Lead => Answering::lead(&id.simple().to_string(), label),
        RespondentKind::System => Answering::system(),
    }
}
