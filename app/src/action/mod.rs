//! Tasks (actions in code): the list, the page of a task, its forms and its sessions.

mod api;
mod approval_form;
mod approval_summary;
mod duration_text;
mod form;
mod input;
mod list_page;
mod page;
mod trigger_form;

pub use api::{ActionBackend, TriggerAction, TypedInput, trigger_action};
pub use approval_form::{KEEP_SETS, Reviewing};
pub use duration_text::parse as parse_duration;
pub use form::Targets;
pub use input::{INPUT, input_typed, needs_form};
pub use list_page::{ListProps, list_page};
pub use page::{Props, page};
pub use trigger_form::{trigger_button, trigger_fields};
