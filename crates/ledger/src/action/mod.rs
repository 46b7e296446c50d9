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

use crate::{ActionRecord, Error, guard::Fields};
use domain::{
    id::TenantId,
    limit::{DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX},
};
use store::Conn;

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

/// Refuses an action that names somebody or something outside of its workspace.
async fn check_references(conn: &mut Conn<'_>, tenant_id: TenantId, action: &ActionRecord) -> crate::Result<()> {
    if let Some(user_id) = action.assigned_to {
        let member = store::user::find_member(conn, tenant_id, user_id).await?;
        member.ok_or_else(|| Error::invalid("assignedTo", "nobody in this workspace has this id"))?;
    }
    if let Some(entity_id) = action.target_entity_id {
        let entity = store::entity::find(conn, tenant_id, entity_id).await?;
        entity.ok_or_else(|| Error::invalid("targetEntityId", "no entity in this workspace has this id"))?;
    }
    Ok(())
}
