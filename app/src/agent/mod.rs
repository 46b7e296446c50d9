//! Agents: the list, and the page of one with its card, memory, sessions, helpfulness and cost.

mod list_page;
mod page;

pub use list_page::{ListProps, ListedAgent, list_page};
pub use page::{Figures, Props, page};
