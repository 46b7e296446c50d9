//! The server functions of conversations: start one, send a message, interrupt a turn, end it. Forms post to them; in
//! an open conversation scripts call them.

#[cfg(feature = "ssr")]
use crate::server_function::backend;
use crate::server_function::{Client, Created, Refusal};
use leptos::prelude::server;

/// What the server does for these functions.
#[cfg(feature = "ssr")]
#[async_trait::async_trait]
pub trait ThreadBackend: Send + Sync {
    /// See [`start_conversation`].
    async fn start(
        &self,
        agent: String,
        message: String,
        incognito: bool,
        key: Option<String>,
    ) -> Result<Created, Refusal>;
    /// See [`send_message`].
    async fn send(&self, session_id: String, text: String, id: Option<String>) -> Result<(), Refusal>;
    /// See [`interrupt_turn`].
    async fn interrupt(&self, session_id: String) -> Result<(), Refusal>;
    /// See [`end_conversation`].
    async fn end(&self, session_id: String, feedback: Option<String>) -> Result<(), Refusal>;
}

/// Starts a conversation of the caller with a first message. `agent` is an agent's slug or the id of a task that names
/// one. A repeat with the same `key` starts no other conversation.
#[server(prefix = "/fn", endpoint = "chat/start", client = Client)]
pub async fn start_conversation(
    agent: String,
    message: String,
    #[server(default)] incognito: bool,
    #[server(default)] key: Option<String>,
) -> Result<Created, Refusal> {
    backend::<dyn ThreadBackend>()?.start(agent, message, incognito, key).await
}

/// Sends a message in the caller's own conversation, or answers the agent's open question with it. A repeat with the
/// same `id` and text sends nothing.
#[server(prefix = "/fn", endpoint = "chat/send", client = Client)]
pub async fn send_message(
    session_id: String,
    text: String,
    #[server(default)] id: Option<String>,
) -> Result<(), Refusal> {
    backend::<dyn ThreadBackend>()?.send(session_id, text, id).await
}

/// Stops the turn of the agent that is running in the caller's own conversation.
#[server(prefix = "/fn", endpoint = "chat/interrupt", client = Client)]
pub async fn interrupt_turn(session_id: String) -> Result<(), Refusal> {
    backend::<dyn ThreadBackend>()?.interrupt(session_id).await
}

/// Ends the caller's own conversation. `feedback` rates it: `positive`, `negative` or `skip`. Without it the caller is
/// not
/// asked for a rating again in this browser.
#[server(prefix = "/fn", endpoint = "chat/end", client = Client)]
pub async fn end_conversation(session_id: String, #[server(default)] feedback: Option<String>) -> Result<(), Refusal> {
    backend::<dyn ThreadBackend>()?.end(session_id, feedback).await
}

#[cfg(feature = "hydrate")]
mod calls {
    use super::{InterruptTurn, SendMessage};
    use crate::server_function::{Arguments, Call, fields};

    impl Call for SendMessage {
        fn arguments(self) -> Arguments {
            let (session_id, id) = (self.session_id.as_str(), self.id.unwrap_or_default());
            Arguments::Form(fields(&[("session_id", session_id), ("text", &self.text), ("id", &id)]))
        }
    }

    impl Call for InterruptTurn {
        fn arguments(self) -> Arguments {
            Arguments::Form(fields(&[("session_id", &self.session_id)]))
        }
    }
}
