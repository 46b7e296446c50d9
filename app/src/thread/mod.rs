//! The server functions of conversations (threads in code). The pages are in `chat`, whose island
//! `LiveConversation` calls these functions.

mod api;

#[cfg(feature = "ssr")]
pub use api::ThreadBackend;
pub use api::{
    EndConversation, InterruptTurn, SendMessage, StartConversation, end_conversation, interrupt_turn, send_message,
    start_conversation,
};
