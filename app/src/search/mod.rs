//! The page of the search over all events.

mod page;

pub use page::{Filter, Props, page};
