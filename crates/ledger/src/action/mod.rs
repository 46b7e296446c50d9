//! Actions: configured work.

mod approval;
mod archiving;
mod create;
mod get;
mod list;
mod named;
mod set_statuses;
mod task_status;
mod trigger;
mod update;

pub use approval::{APPROVAL, REQUIRES_APPROVAL};
pub use archiving::{Archiving, OpenAction, archiving};
pub use create::{NewAction, create, create_once};
pub(crate) use get::get_on;
pub use get::{find_by_slug, get};
pub use list::{Assignee, ListActions, list};
pub(crate) use list::{ListQuery, list_on};
pub use named::{NAMED_MAX, named, named_by_operator};
pub use set_statuses::{SetStatuses, set_statuses};
pub use task_status::{TaskStatus, TaskStatusAndEvents, task_status};
pub(crate) use task_status::{task_status_on, task_statuses_on};
pub use trigger::{Trigger, trigger};
pub use update::{ActionChange, update};

use crate::{ActionRecord, EntityRecord, Error, guard::Fields, output::check_schema};
use domain::{
    action::OutputType,
    entity::FieldType,
    gate::Policy,
    id::TenantId,
    limit::{DESCRIPTION_CHARS_MAX, NAME_CHARS_MAX},
    output::{Contract, read},
    session::TimeLimits,
};
use store::Conn;

/// Checks every field of an action before it is stored.
pub(crate) fn check(action: &ActionRecord) -> crate::Result<()> {
    let mut fields = Fields::default();
    fields.name("name", &action.name, NAME_CHARS_MAX);
    fields.slug("slug", Some(&action.slug));
    fields.text("description", Some(&action.description), DESCRIPTION_CHARS_MAX);
    fields.slug("agentSlug", action.agent_slug.as_deref());
    fields.object("outputConfig", Some(&action.output_config));
    fields.object("metadata", Some(&action.metadata));
    fields.check()?;
    let metadata = serde_json::from_str(&action.metadata).unwrap_or_default();
    Policy::of(&metadata)?;
    TimeLimits::of_metadata(&metadata)?;
    output_contract(action).map(drop)
}

/// Reads and checks the output contract of an action before it is stored.
fn output_contract(action: &ActionRecord) -> crate::Result<Contract> {
    let mut fields = Fields::default();
    let contract = read(action.output_type, &action.output_config)?;
    if let Some(wrong) = contract.schema.as_ref().and_then(|schema| check_schema(schema, "outputConfig.schema")) {
        fields.refuse(&wrong.field, wrong.message);
    }
    if action.output_type == OutputType::Entity && contract.entity_type.is_none() && action.target_entity_id.is_none() {
        fields.refuse(
            "outputConfig.entityType",
            "needed where the task is about no entity: results become one of this type",
        );
    }
    fields.check()?;
    Ok(contract)
}

/// Refuses an action that refers to people, entities, types or criteria sets outside of its workspace.
pub(crate) async fn check_references(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    action: &ActionRecord,
) -> crate::Result<()> {
    if let Some(user_id) = action.assigned_to {
        let member = store::user::find_member(conn, tenant_id, user_id).await?;
        member.ok_or_else(|| Error::invalid("assignedTo", "no one in this workspace has this id"))?;
    }
    let mut target = None;
    if let Some(entity_id) = action.target_entity_id {
        target = store::entity::find(conn, tenant_id, entity_id).await?;
        target.as_ref().ok_or_else(|| Error::invalid("targetEntityId", "no entity in this workspace has this id"))?;
    }
    check_output_types(conn, tenant_id, &output_contract(action)?, target.as_ref()).await?;
    approval::check_references(conn, tenant_id, action).await
}

/// Refuses an output contract whose criteria sets or entity type do not exist, or whose entity type does not fit
/// the entity that the action is about.
async fn check_output_types(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    contract: &Contract,
    target: Option<&EntityRecord>,
) -> crate::Result<()> {
    for id in &contract.criteria_set_ids {
        if store::criteria_set::find(conn, tenant_id, *id).await?.is_none() {
            let message = format!("there is no criteria set {id} in this workspace");
            return Err(Error::invalid("outputConfig.criteria_set_ids", message));
        }
    }
    let Some(slug) = contract.entity_type.as_deref() else { return Ok(()) };
    let Some(of) = store::entity_type::find_by_slug(conn, tenant_id, slug).await? else {
        return Err(Error::invalid("outputConfig.entityType", format!("there is no entity type `{slug}`")));
    };
    if contract.output_type == OutputType::Entity
        && let Some(target) = target.filter(|target| target.type_slug != slug)
    {
        let message = format!("the task is about an entity of type `{}`, which its results change", target.type_slug);
        return Err(Error::invalid("outputConfig.entityType", message));
    }
    let Some(relation) = contract.relation_field.as_deref() else { return Ok(()) };
    let field = of.fields.iter().find(|field| field.slug == relation && field.kind == FieldType::Relation);
    let Some(field) = field else {
        let message = format!("entity type `{slug}` has no relation field `{relation}`");
        return Err(Error::invalid("outputConfig.relationField", message));
    };
    let leads_to = field.relation_type.as_deref().unwrap_or_default();
    match target {
        Some(target) if target.type_slug != leads_to => {
            let message = format!("it leads to `{leads_to}`, but the task is about a `{}`", target.type_slug);
            Err(Error::invalid("outputConfig.relationField", message))
        }
        _ => Ok(()),
    }
}
