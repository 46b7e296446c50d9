//! Tasks (actions in code): the list, the page of a task, its forms and its sessions.

mod approval_form;
mod form;
mod input;
mod list_page;
mod page;
mod span;
mod waits;

pub use approval_form::{KEEP_SETS, Reviewing};
pub use form::Targets;
pub use input::{input_typed, needs_form};
pub use list_page::{ListProps, list_page};
pub use page::{Props, page};
pub use span::read as read_span;
