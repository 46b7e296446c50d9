//! Conversations of the caller: starting one, sending a message, interrupting a turn, ending it.

use super::{Backend, session::label_of};
use crate::problem::Problem;
use app::{
    server_function::{Created, Refusal},
    thread::ThreadBackend,
};
use async_trait::async_trait;
use domain::{
    gate::GateKind,
    id::SessionId,
    session::{Session, Status},
    session_feedback::Surface,
};
use ledger::{
    Error,
    gate::{self, Reply},
    thread::{self, Ending, Message, NewThread},
};
use serde_json::Value;

#[async_trait]
impl ThreadBackend for Backend {
    async fn start(
        &self,
        agent: String,
        message: String,
        incognito: bool,
        key: Option<String>,
    ) -> Result<Created, Refusal> {
        let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let new = NewThread {
            agent,
            incognito,
            title: None,
            // An empty message starts no conversation: it is refused with its field.
            message: Some(message),
            channel: None,
            idempotency_key: key.map(|key| format!("web-{key}")),
        };
        let begun = self.answer(thread::start(&self.state.ledger, self.scope(), new).await)?;
        Ok(Created { id: begun.session.id.to_string() })
    }

    async fn send(&self, session_id: String, text: String, id: Option<String>) -> Result<(), Refusal> {
        let session_id = self.session_id(&session_id)?;
        let message = Message { text, id: id.and_then(|id| id.trim().parse().ok()) };
        self.answer(self.append(session_id, message).await)
    }

    async fn interrupt(&self, session_id: String) -> Result<(), Refusal> {
        let id = self.session_id(&session_id)?;
        self.answer(self.own_conversation(id).await)?;
        self.answer(thread::interrupt(&self.state.ledger, self.scope(), id).await).map(drop)
    }

    async fn end(&self, session_id: String, feedback: Option<String>) -> Result<(), Refusal> {
        let id = self.session_id(&session_id)?;
        self.answer(self.own_conversation(id).await)?;
        let feedback = feedback.filter(|label| !label.trim().is_empty());
        let feedback = self.answer(feedback.map(|label| label_of("feedback", &label)).transpose())?;
        let ending = Ending { feedback, source: Surface::WebEnd, summary: true };
        self.answer(self.state.thread_endings.end(self.scope(), id, ending).await)?;
        if feedback.is_none() {
            // The person was asked for a rating and ended the conversation without one.
            self.remember_dismissal(id);
        }
        Ok(())
    }
}

impl Backend {
    /// A conversation of the caller's own. Others' look like none.
    async fn own_conversation(&self, id: SessionId) -> Result<Session, Problem> {
        let (session, _) = thread::get(&self.state.ledger, self.scope(), id).await?;
        if thread::is_own(self.scope(), &session) { Ok(session) } else { Err(Error::NotFound("thread").into()) }
    }

    /// Sends the message, or uses it as the answer to the agent's open question.
    async fn append(&self, id: SessionId, message: Message) -> Result<(), Problem> {
        let (ledger, scope) = (&self.state.ledger, self.scope());
        let session = self.own_conversation(id).await?;
        if session.status() == Status::WaitingHuman && !message.text.trim().is_empty() {
            let gates = gate::of_sessions(ledger, scope, vec![id]).await?;
            let asks = gates.iter().any(|item| item.gate.kind == GateKind::Question);
            if asks && self.reply(id, &message).await? {
                return Ok(());
            }
        }
        match thread::send_message(ledger, scope, id, message.clone()).await {
            // The form of an earlier message, filled in again: another message.
            Err(Error::IdConflict { .. }) => {
                thread::send_message(ledger, scope, id, Message { id: None, ..message }).await?;
            }
            said => {
                said?;
            }
        }
        Ok(())
    }

    /// Answers the agent's question once, however often the form is sent. Returns whether it was answered.
    async fn reply(&self, id: SessionId, message: &Message) -> Result<bool, Problem> {
        let (ledger, scope) = (&self.state.ledger, self.scope());
        let reply = || Reply::Accept(Value::from(message.text.as_str()));
        match gate::reply_as(ledger, scope, id, message.id, reply()).await {
            // The form of an earlier message or answer: sent again, or filled in again.
            Err(Error::IdConflict { .. }) => {
                if !thread::is_recorded(ledger, scope, id, message).await? {
                    gate::reply(ledger, scope, id, reply()).await?;
                }
                Ok(true)
            }
            // Someone was faster, perhaps the same person: what is the same is recognised, and what is not is a
            // message.
            Err(Error::Refused(_)) => Ok(false),
            answered => Ok(answered.map(|_| true)?),
        }
    }
}
