//! The server functions of conversations (threads in code). The pages are in `chat`; the island `LiveRows` of
//! `sessions` calls these functions for an open conversation.

mod api;

#[cfg(feature = "ssr")]
pub use api::ThreadBackend;
pub use api::{
    EndConversation, InterruptTurn, SendMessage, StartConversation, end_conversation, interrupt_turn, send_message,
    start_conversation,
};
