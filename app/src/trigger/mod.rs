//! Running a task: the server function, and what every form that posts to it has in common. Tasks, entities and Today
//! have such forms.

mod api;
mod form;

pub use api::{ActionBackend, TriggerAction, TypedInput, WHOLE, trigger_action};
pub use form::{trigger_button, trigger_fields};
