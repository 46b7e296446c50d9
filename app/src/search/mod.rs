//! The page of the search over events, tasks, entities, questions and memory.

mod filter;
mod page;
mod records;

pub use filter::Filter;
pub use page::{Props, page};
