//! Conversations with agents: the viewer's list, and one conversation. Everything works with plain forms that post to
//! the server functions of `api`. With scripts, the island `LiveRows` updates the page and calls those functions.

mod api;

#[cfg(feature = "ssr")]
mod composer;
#[cfg(feature = "ssr")]
mod conversation;
#[cfg(feature = "ssr")]
mod list_page;
#[cfg(feature = "ssr")]
mod message;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod state;

#[cfg(feature = "ssr")]
pub use api::ChatBackend;
pub use api::{
    EndConversation, InterruptTurn, SendMessage, StartConversation, end_conversation, interrupt_turn, send_message,
    start_conversation,
};
#[cfg(feature = "ssr")]
pub use conversation::{Conversation, Gate, fragment};
#[cfg(feature = "ssr")]
pub use list_page::{Entry, ListProps, list_page, rows_fragment};
#[cfg(feature = "ssr")]
pub use page::{Props, page};
