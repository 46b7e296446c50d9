//! Conversations with agents: the viewer's list, and one conversation. Everything works with plain forms that post to
//! the server functions of `thread`. With scripts, the island `LiveConversation` updates the page of a conversation and
//! calls those functions, and `LiveRows` updates the list.

mod composer;
mod island;
mod store;

#[cfg(feature = "hydrate")]
mod follow;

#[cfg(feature = "ssr")]
mod conversation;
#[cfg(feature = "ssr")]
mod conversation_view;
#[cfg(feature = "ssr")]
mod list_page;
#[cfg(feature = "ssr")]
mod message;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod state;

#[cfg(feature = "ssr")]
pub use conversation::{Conversation, Gate};
#[cfg(feature = "ssr")]
pub use conversation_view::fragment;
pub use island::LiveConversation;
#[cfg(feature = "ssr")]
pub use list_page::{Entry, ListProps, list_page, rows_fragment};
#[cfg(feature = "ssr")]
pub use page::{Props, page};
