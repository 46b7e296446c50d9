//! Conversations with agents: the list of one's own, and one of them. Everything works as plain forms; with scripts the
//! island `LiveRows` reads the moving part again and sends without leaving the page.

mod composer;
mod list_page;
mod message;
mod page;
mod state;
mod talk;

pub use list_page::{Entry, ListProps, list_page, rows_fragment};
pub use page::{Props, page};
pub use talk::{Gate, Talk, fragment};
