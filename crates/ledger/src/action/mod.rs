//! Actions: configured work.

mod create;
mod get;
mod list;
mod task_status;
mod trigger;
mod update;

pub use create::{NewAction, create};
pub use get::get;
pub use list::{Assignee, ListActions, list};
pub use task_status::{TaskStatus, task_status};
pub use trigger::{Trigger, trigger};
pub use update::{ActionChange, update};

use crate::{ActionRecord, guard::Fields};
use domain::limit::{DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX};

/// Checks every field of an action that is about to be stored.
fn check(action: &ActionRecord) -> crate::Result<()> {
    let mut fields = Fields::default();
    fields.name("name", &action.name, NAME_CHARS_MAX);
    fields.slug("slug", Some(&action.slug));
    fields.text("description", Some(&action.description), DESCRIPTION_CHARS_MAX);
    fields.slug("agentSlug", action.agent_slug.as_deref());
    fields.object("outputConfig", Some(&action.output_config));
    fields.object("metadata", Some(&action.metadata));
    fields.check()
}
