//! Asking people: the calls of `request_feedback`, and the answers for which the session did not wait.

use super::{Call, ChatRun, Conversation, Stop, Waiting};
use crate::execute::tool::{self, Tool};
use serde_json::json;

impl ChatRun<'_> {
    /// Makes a request for which the session waits. All events are recorded before, because a parked session takes
    /// none. Returns `None` if the session does not wait, because the call has its result.
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
            Ok(_) => Ok(Some(Waiting::Answered)),
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
    async fn ask_people(&self, call: &Call) -> Result<Result<wire::feedback_request::Asked, serde_json::Value>, Stop> {
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
        let taken =
            lease.retry_while_held(lease.backoff(), |_| self.context.api.take_answers(lease.session_id, lease.attempt));
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
