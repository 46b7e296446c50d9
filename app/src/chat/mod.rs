//! Conversations with agents: the viewer's list, and one conversation. Everything works with plain forms that post to
//! the server functions of `thread`. With scripts, the island `LiveRows` updates the page and calls those functions.

mod composer;
mod conversation;
mod list_page;
mod message;
mod page;
mod state;

pub use conversation::{Conversation, Gate, fragment};
pub use list_page::{Entry, ListProps, list_page, rows_fragment};
pub use page::{Props, page};
