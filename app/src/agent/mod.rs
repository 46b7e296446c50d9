//! Agents: the list, and the page of one with its card, memory, sessions, helpfulness and cost.

mod card;
mod list_page;
mod page;
mod props;

pub use list_page::{ListProps, ListedAgent, list_page};
pub use page::page;
pub use props::{CardPreview, Erasures, Figures, Props, Workers};
