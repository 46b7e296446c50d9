//! Actions, which people call tasks: the list, one of them, its forms and its runs.

mod form;
mod list_page;
mod page;

pub use form::Targets;
pub use list_page::{ListProps, list_page};
pub use page::{Props, page};
