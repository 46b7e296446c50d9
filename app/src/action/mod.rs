//! Tasks (actions in code): the list, the page of a task, its forms and its sessions.

mod approval_form;
mod approval_summary;
mod archive_page;
mod bulk;
mod duration_text;
mod form;
mod input;
mod list_page;
mod page;

pub use approval_form::{KEEP_SETS, ReviewOptions};
pub use archive_page::{ArchiveProps, OpenTask, archive_page};
pub use bulk::FORM as BULK_FORM;
pub use duration_text::parse as parse_duration;
pub use form::Targets;
pub use input::{input_typed, place_of_input_error};
pub use list_page::{ListProps, list_page};
pub use page::{Props, page};
