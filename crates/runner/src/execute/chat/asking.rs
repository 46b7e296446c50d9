//! Asking people: the calls of `request_feedback`, and the answers for which the session did not wait.

use super::{Call, ChatRun, Conversation, Stop, Waiting};
use crate::execute::tool::{self, Tool};
use serde_json::{Value, json};
use wire::feedback_request::{Asked, TakeAnswers};

impl ChatRun<'_> {
    /// Makes a request for which the session waits. All events are recorded before, because a parked session takes
    /// none. Returns `None` if the session does not wait, because the call has its result: a request that was made
    /// before is found by its key, the id of the call, with its answer.
    pub(super) async fn ask_and_wait(
        &self,
        conversation: &mut Conversation,
        call: &Call,
    ) -> Result<Option<Waiting>, Stop> {
        if self.context.events.flush().await.is_err() {
            return Err(Stop::Closed);
        }
        match self.ask_people(call).await? {
            Ok(asked) if asked.waits => Ok(Some(Waiting::Parked)),
            Ok(asked) => {
                let gate = asked.request.gate_id;
                if let Some(gate) = gate {
                    conversation.mark_decision_applied(gate);
                }
                self.answer(conversation, call, &recorded_answer(&asked), gate).await?;
                Ok(None)
            }
            Err(why) => {
                self.answer(conversation, call, &Err(why), None).await?;
                Ok(None)
            }
        }
    }

    /// Makes a request for which the session does not wait.
    pub(super) async fn ask_aside(&self, conversation: &mut Conversation, call: &Call) -> Result<(), Stop> {
        let answer = self
            .ask_people(call)
            .await?
            .map(|asked| json!({ "requestId": asked.request.id, "url": asked.url, "state": asked.request.state }));
        self.answer(conversation, call, &answer, None).await
    }

    /// Sends a request. The inner error is for the model.
    async fn ask_people(&self, call: &Call) -> Result<Result<Asked, Value>, Stop> {
        let lease = &self.context.lease;
        let ask = match tool::ask(&call.id, &call.input, lease.attempt) {
            Ok(ask) => ask,
            Err(why) => return Ok(Err(why)),
        };
        let sent = lease.retry_while_held(lease.backoff(), |_| self.context.api.ask_feedback(lease.session_id, &ask));
        match sent.await {
            Ok(asked) => Ok(Ok(asked)),
            Err(error) => Ok(Err(tool::refusal_answer(error)?)),
        }
    }

    /// Passes on answers that have come since. The server records them in the log, from which another attempt reads
    /// them.
    pub(super) async fn take_answers(&self, conversation: &mut Conversation) -> Result<(), Stop> {
        if !conversation.has_called(Tool::RequestFeedback.name()) {
            return Ok(());
        }
        let lease = &self.context.lease;
        // A repeat has the same key, so answers whose response was lost come again.
        let take = TakeAnswers { attempt: lease.attempt, idempotency_key: Some(self.context.events.fresh_key()) };
        let taken = lease.retry_while_held(lease.backoff(), |_| self.context.api.take_answers(lease.session_id, &take));
        match taken.await {
            Ok(taken) if taken.input.is_empty() => Ok(()),
            Ok(taken) => {
                conversation.push_user_text(taken.block);
                Ok(())
            }
            Err(error) => {
                tool::refusal_answer(error)?;
                Ok(())
            }
        }
    }
}

/// The result of a call whose request was made before and for which the session does not wait any more.
fn recorded_answer(asked: &Asked) -> tool::Answer {
    let Some(answer) = &asked.answer else {
        return Err(json!("this request was made before, and the session went on without an answer to it"));
    };
    let answers: Value =
        answer.answers.as_ref().and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default();
    Ok(json!({
        "outcome": answer.outcome, "answer": answers, "note": answer.note, "respondent": answer.respondent,
    }))
}
