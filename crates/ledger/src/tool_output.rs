//! The entity to which the result of a run of a tool is written: by a request after its end, or by one that came with
//! the run, which is followed up when it completes. The result is the output of a task, with the rights that whoever
//! asked for it has then. The module does not use `session`, which follows up the ends of runs.

use crate::{
    Error, Ledger, Result, ToolRunOutputRecord,
    auth::scope_now,
    guard::require,
    output::target,
    response::promotion::{Ids, Prepared, active_task, begin_task, settle_task, writes_one_entity, written_before},
    visibility::require_visible,
};
use domain::{
    Caller, Scope,
    id::{ActionId, EntityId, SessionId, TenantId},
    issue::Issue,
    json_pointer::is_pointer,
    limit::{DOCUMENT_BYTES_MAX, ENTITY_FIELDS_MAX, TOOL_POINTER_CHARS_MAX},
    role::Permission,
    session::{Session, Status, Type},
    tool::Definition,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use store::{Access, Conn, WriteTx};

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

/// Name of the request in error messages. The name of its member follows.
const OUTPUT: &str = "output";
/// Longest reason that is kept, characters.
const REFUSED_CHARS_MAX: usize = 1_000;

/// Writes the result of a completed run by a task, as [`crate::tool_run::promote`] does. The fields are checked.
pub(crate) async fn promote_on(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    id: SessionId,
    to: PromoteRun,
    ids: &Ids,
) -> Result<Session> {
    require(scope, Permission::WriteEntities)?;
    require(scope, Permission::StartSession)?;
    let tenant_id = scope.tenant_id;
    // The lock keeps two requests from writing the result twice.
    let run = store::session::find_locked(tx, tenant_id, id).await?;
    let run = require_visible(tx.conn(), scope, run).await?;
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
    let begun = begin_task(tx, scope, &action, prepared, ids).await?;
    Ok(settle_task(tx, scope, &action, begun, ids).await?.0)
}

/// Checks the number of fields, and the length and the form of each pointer.
pub(crate) fn check_fields(fields: &BTreeMap<String, String>) -> Result<()> {
    if fields.len() > ENTITY_FIELDS_MAX {
        return Err(Error::invalid("fields", format!("at most {ENTITY_FIELDS_MAX} fields")));
    }
    let wrong = |pointer: &str| {
        if pointer.chars().count() > TOOL_POINTER_CHARS_MAX {
            return Some(format!("at most {TOOL_POINTER_CHARS_MAX} characters"));
        }
        let is_whole_or_part = pointer.is_empty() || is_pointer(pointer);
        (!is_whole_or_part)
            .then(|| "a JSON Pointer such as /body/name, or an empty text for the whole result".to_owned())
    };
    let issue = |(slug, pointer): (&String, &String)| Some(Issue::new(format!("fields.{slug}"), wrong(pointer)?));
    let issues: Vec<_> = fields.iter().filter_map(issue).collect();
    if issues.is_empty() { Ok(()) } else { Err(Error::Invalid(issues)) }
}

/// The values for the entity, which are the output of a task and so smaller than a result of a tool may be.
fn output_of(result: Option<&str>, fields: &BTreeMap<String, String>) -> Result<Map<String, Value>> {
    let values = values_of(result, fields)?;
    if serde_json::to_string(&values).map_or(usize::MAX, |json| json.len()) > DOCUMENT_BYTES_MAX {
        return Err(Error::invalid("fields", format!("the values have at most {DOCUMENT_BYTES_MAX} bytes together")));
    }
    Ok(values)
}

/// The result itself, or the parts of it that the pointers name.
fn values_of(result: Option<&str>, fields: &BTreeMap<String, String>) -> Result<Map<String, Value>> {
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

/// Checks a request for a result to be written, as far as no rows are needed.
///
/// # Errors
/// [`Error::Forbidden`] for a caller who may not write entities; [`Error::Invalid`] for wrong fields.
pub(crate) fn check(scope: &Scope, to: &PromoteRun) -> Result<()> {
    require(scope, Permission::WriteEntities)?;
    if !matches!(scope.caller, Caller::User(_) | Caller::Token(_)) {
        return Err(Error::Forbidden("only people and tokens can have a result written to an entity"));
    }
    check_fields(&to.fields).map_err(placed)
}

/// Stores the request with the session of its run, which the transaction has created or locked.
///
/// # Errors
/// [`Error::Invalid`] at `output` for a task or an entity that cannot be written, and at `output.fields` for fields
/// that a result of this tool can never fill.
pub(crate) async fn insert(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    id: SessionId,
    (to, definition): (PromoteRun, &Definition),
) -> Result<()> {
    check_rows(tx.conn(), scope.tenant_id, &to, definition).await.map_err(placed)?;
    let record = ToolRunOutputRecord {
        session_id: id,
        action_id: to.action_id,
        entity_id: to.entity_id,
        fields: serde_json::to_string(&to.fields).unwrap_or_default(),
        requested_by: scope.caller.to_string(),
        written_session_id: None,
        refused: None,
    };
    Ok(store::tool_run_output::insert(tx, scope.tenant_id, &record).await?)
}

async fn check_rows(conn: &mut Conn<'_>, tenant_id: TenantId, to: &PromoteRun, definition: &Definition) -> Result<()> {
    let action = active_task(conn, tenant_id, to.action_id).await;
    let action = action.map_err(|error| missing(error, "actionId", "there is no such task"))?;
    if !writes_one_entity(&action) {
        return Err(Error::invalid("actionId", "the output of this task is not one entity"));
    }
    if let Some(id) = to.entity_id
        && store::entity::find(conn, tenant_id, id).await?.is_none()
    {
        return Err(Error::invalid("entityId", "there is no such entity"));
    }
    let issues = match target(conn, tenant_id, &action, to.entity_id).await? {
        Ok(target) => target.never_filled(definition.output_schema.as_ref(), &to.fields),
        Err(issue) if issue.field == "task" => vec![Issue::new("actionId", issue.message)],
        Err(issue) => vec![Issue::new("entityId", issue.message)],
    };
    if issues.is_empty() { Ok(()) } else { Err(Error::Invalid(issues)) }
}

/// An object of the request that does not exist is a wrong field: the path names another object.
fn missing(error: Error, field: &str, why: &str) -> Error {
    match error {
        Error::NotFound(_) => Error::invalid(field, why),
        other => other,
    }
}

fn placed(error: Error) -> Error {
    match error {
        Error::Invalid(issues) => {
            let placed = |issue: Issue| Issue::new(format!("{OUTPUT}.{}", issue.field), issue.message);
            Error::Invalid(issues.into_iter().map(placed).collect())
        }
        other => other,
    }
}

/// Writes the result of a run that has ended, if that was asked for. Returns the sessions that ended by it. A repeat
/// has no further effect.
///
/// # Errors
/// Those of the database: it is to be tried again. What cannot be written is recorded with the reason instead.
pub(crate) async fn write_output(ledger: &Ledger, ended: &Session) -> Result<Vec<(TenantId, SessionId)>> {
    if ended.session_type != Type::Tool {
        return Ok(Vec::new());
    }
    let (place, ids) = ((ended.tenant_id, ended.id), Ids::new(ledger));
    let access: Access = (&Scope::system(ended.tenant_id)).into();
    let written = ledger.store().write(access, async move |tx| write(tx, place, &ids).await);
    let why = match written.await {
        Ok(written) => return Ok(written.endings),
        Err(error) => refusal(error)?,
    };
    let recorded = ledger.store().write(access, async move |tx| {
        let why: String = why.chars().take(REFUSED_CHARS_MAX).collect();
        store::tool_run_output::settle(tx, place, None, Some(&why)).await
    });
    Ok(recorded.await?.endings)
}

async fn write(tx: &mut WriteTx<'_>, (tenant_id, id): (TenantId, SessionId), ids: &Ids) -> Result<()> {
    let Some(output) = store::tool_run_output::find(tx.conn(), tenant_id, id).await? else { return Ok(()) };
    if output.written_session_id.is_some() || output.refused.is_some() {
        return Ok(());
    }
    let run = store::session::find(tx.conn(), tenant_id, id).await?;
    if run.is_none_or(|run| run.status() != Status::Completed) {
        return Ok(store::tool_run_output::settle(tx, (tenant_id, id), None, Some("the run has no result")).await?);
    }
    let scope = scope_now(tx.conn(), tenant_id, &output.requested_by).await?;
    let scope = scope.ok_or(Error::Forbidden("who asked for it has no rights in this workspace any more"))?;
    let fields = serde_json::from_str(&output.fields).map_err(|error| Error::Internal(error.to_string()))?;
    let to = PromoteRun { action_id: output.action_id, entity_id: output.entity_id, fields };
    let session = promote_on(tx, &scope, id, to, ids).await?;
    Ok(store::tool_run_output::settle(tx, (tenant_id, id), Some(session.id), None).await?)
}

/// Why a result cannot be written, for people. `Err` for an error that can be over at the next try. Every other one is
/// a refusal: an ending that fails is followed up again and again.
fn refusal(error: Error) -> Result<String> {
    match error {
        Error::Invalid(issues) | Error::OutputInvalid { errors: issues, .. } => {
            let named: Vec<_> = issues.iter().map(|issue| format!("{}: {}", issue.field, issue.message)).collect();
            Ok(named.join("; "))
        }
        Error::Unavailable(_) | Error::Unusable(_) | Error::Internal(_) => Err(error),
        refused => Ok(refused.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_over_at_the_next_try_is_tried_again() {
        let errors = vec![Issue::new("stage", "one of these")];
        let refused = refusal(Error::OutputInvalid { errors, failed: false });
        assert!(matches!(&refused, Ok(why) if why == "stage: one of these"), "{refused:?}");
        assert!(refusal(Error::NotNow("not now")).is_ok());
        assert!(refusal(Error::Unavailable("busy".into())).is_err());
        assert!(refusal(Error::Internal("broken".into())).is_err());
    }
}
