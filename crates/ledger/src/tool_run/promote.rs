//! Writing the result of a run to an entity by a task: the result is the task's output, in a session of its own whose
//! parent is the run. Safety rules and approval apply as to the output of an agent.

use crate::{
    Error, Ledger, Result,
    guard::require,
    response::promotion::{Ids, Prepared, active_task, begin_task, settle_task, writes_one_entity, written_before},
    visibility::require_visible,
};
use domain::{
    Scope,
    id::{ActionId, EntityId, SessionId},
    issue::Issue,
    limit::{ENTITY_FIELDS_MAX, TOOL_POINTER_CHARS_MAX},
    role::Permission,
    session::{Session, Status, Type},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Where the result of a run is written.
#[derive(Debug, Clone)]
pub struct PromoteRun {
    /// Task whose output the result is. Its output is one entity.
    pub action_id: ActionId,
    /// Entity that is written. By default the one that the task is about.
    pub entity_id: Option<EntityId>,
    /// JSON Pointer into the result for each field of the entity, by the field's slug or `title`. Without any, the
    /// result itself has the fields.
    pub fields: BTreeMap<String, String>,
}

/// Writes the result of a completed run to an entity by a task, or lets it wait for approval where the task requires
/// one. Returns the session of the task, whose parent is the run; the new version of the entity names it. A repeat
/// returns the same session. A result that was denied can be written again.
///
/// # Errors
/// [`Error::NotFound`] for an unknown task or entity, and if there is no such session of a tool or the caller cannot
/// see it; [`Error::Invalid`] for a run that did not complete, for a task that is archived or whose output is not one
/// entity, and for values that the task or the type refuses; [`Error::HardBlock`] if the task's safety rules block
/// them.
pub async fn promote(ledger: &Ledger, scope: &Scope, id: SessionId, to: PromoteRun) -> Result<Session> {
    require(scope, Permission::WriteEntities)?;
    require(scope, Permission::StartSession)?;
    check_fields(&to.fields)?;
    let (scope, ids) = (*scope, Ids::new(ledger));
    ledger
        .write((&scope).into(), async move |tx| {
            let tenant_id = scope.tenant_id;
            // The lock keeps two requests from writing the result twice.
            let run = store::session::find_locked(tx, tenant_id, id).await?;
            let run = require_visible(tx.conn(), &scope, run).await?;
            if run.session_type != Type::Tool {
                return Err(Error::NotFound("session of a tool"));
            }
            if run.status() != Status::Completed {
                return Err(Error::invalid("id", "only the result of a run that has completed can be written"));
            }
            let action = active_task(tx.conn(), tenant_id, to.action_id).await?;
            if !writes_one_entity(&action) {
                return Err(Error::invalid("actionId", "the output of this task is not one entity"));
            }
            if let Some(id) = to.entity_id {
                store::entity::find(tx.conn(), tenant_id, id).await?.ok_or(Error::NotFound("entity"))?;
            }
            let entity_id = to.entity_id.or(action.target_entity_id);
            if let Some(known) = written_before(tx.conn(), tenant_id, id, (action.id, entity_id)).await? {
                return Ok(known);
            }
            let prepared = Prepared {
                parent_id: id,
                private_to: run.private_to.clone(),
                entity_id,
                input: None,
                metadata: json!({ "toolSession": { "sessionId": id } }).to_string(),
                output: output_of(run.result(), &to.fields)?,
                judged_too: Map::new(),
                reasons: ["the result of a tool is written", "its result is the output"],
            };
            let begun = begin_task(tx, &scope, &action, prepared, &ids).await?;
            Ok(settle_task(tx, &scope, &action, begun, &ids).await?.0)
        })
        .await
}

/// Checks the number of fields and the length of each pointer.
fn check_fields(fields: &BTreeMap<String, String>) -> Result<()> {
    if fields.len() > ENTITY_FIELDS_MAX {
        return Err(Error::invalid("fields", format!("at most {ENTITY_FIELDS_MAX} fields")));
    }
    let is_long = |pointer: &str| pointer.chars().count() > TOOL_POINTER_CHARS_MAX;
    let long = fields.iter().filter(|(_, pointer)| is_long(pointer));
    let issue =
        |slug: &str| Issue::new(format!("fields.{slug}"), format!("at most {TOOL_POINTER_CHARS_MAX} characters"));
    let issues: Vec<_> = long.map(|(slug, _)| issue(slug)).collect();
    if issues.is_empty() { Ok(()) } else { Err(Error::Invalid(issues)) }
}

/// The values for the entity: the result itself, or the parts of it that the pointers name.
fn output_of(result: Option<&str>, fields: &BTreeMap<String, String>) -> Result<Map<String, Value>> {
    let result: Value = result.and_then(|result| serde_json::from_str(result).ok()).unwrap_or_default();
    if fields.is_empty() {
        return match result {
            Value::Object(values) => Ok(values),
            _ => Err(Error::invalid("fields", "the result is not an object: name a part of it for each field")),
        };
    }
    let (mut values, mut issues) = (Map::new(), Vec::new());
    for (slug, pointer) in fields {
        match result.pointer(pointer) {
            Some(value) => _ = values.insert(slug.clone(), value.clone()),
            None => issues.push(Issue::new(format!("fields.{slug}"), "the result has nothing at this JSON Pointer")),
        }
    }
    if issues.is_empty() { Ok(values) } else { Err(Error::Invalid(issues)) }
}
