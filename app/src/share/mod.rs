//! The pages of members about links to sessions: the form that makes a link and says what it shows, and the list.

mod list_page;
mod page;
mod table;

pub use list_page::{ListProps, list_page};
pub use page::{Props, page};
