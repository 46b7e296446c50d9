//! Writing what was changed in a canvas to the entity with which it began, by a task: the fields are the task's output,
//! in a session of its own whose parent is the canvas. Safety rules and approval apply as to the output of an agent.

use super::{
    document::{committed, events_of_patches, unreadable},
    key,
};
use crate::{
    Error, Result,
    response::promotion::{Ids, Prepared, active_task, begin_task, settle_task, written_before},
};
use domain::{
    Scope,
    action::OutputType,
    canvas::{Document, Operation},
    entity::{FieldDef, FieldType},
    id::{ActionId, EntityId, TenantId},
    session::{Session, Status},
};
use serde_json::{Map, Number, Value, json};
use store::{CanvasRecord, Conn, WriteTx};

/// Writes the changed fields of a completed canvas by a task, or lets them wait for approval where the task requires
/// one. A repeat changes nothing. What was denied can be written again.
///
/// # Errors
/// [`Error::NotFound`] for an unknown task or an entity that is gone; [`Error::Invalid`] for a canvas that was
/// abandoned or did not begin with an entity, if no field was changed, for a task that is archived or whose output is
/// not fields, and for values that the task or the type refuses; [`Error::HardBlock`] if the task's safety rules block
/// them.
pub(super) async fn write_back(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    (session, canvas): (&Session, &CanvasRecord),
    action_id: ActionId,
    ids: &Ids,
) -> Result<()> {
    if session.status() != Status::Completed {
        return Err(refused("this canvas was abandoned, so nothing of it is written"));
    }
    let entity_id = session.entity_id.ok_or_else(|| refused("this canvas did not begin with an entity"))?;
    let action = active_task(tx.conn(), scope.tenant_id, action_id).await?;
    if action.output_type != OutputType::Fields {
        return Err(refused("the output of this task is not fields of an entity"));
    }
    let written = written_before(tx.conn(), scope.tenant_id, session.id, (action_id, Some(entity_id))).await?;
    if written.is_some() {
        return Ok(());
    }
    let output = changed_fields(tx.conn(), session, canvas, entity_id).await?;
    if output.is_empty() {
        return Err(refused("no block of a field was changed, so there is nothing to write"));
    }
    let of = json!({ "canvas": { "sessionId": session.id, "version": canvas.version } });
    let prepared = Prepared {
        parent_id: session.id,
        private_to: None,
        entity_id: Some(entity_id),
        input: None,
        metadata: of.to_string(),
        output,
        judged_too: Map::new(),
        reasons: ["a canvas is written to its entity", "its changed fields are the output"],
    };
    let begun = begin_task(tx, scope, &action, prepared, ids).await?;
    settle_task(tx, scope, &action, begun, ids).await?;
    Ok(())
}

fn refused(why: &str) -> Error {
    Error::invalid("actionId", why)
}

/// The fields whose block has another text than at the beginning. Those that nobody changed here keep what was written
/// to the entity meanwhile.
async fn changed_fields(
    conn: &mut Conn<'_>,
    session: &Session,
    canvas: &CanvasRecord,
    entity_id: EntityId,
) -> Result<Map<String, Value>> {
    let first = first_document(conn, session, canvas).await?;
    let last = Document::read(&canvas.document).ok_or_else(|| unreadable(canvas.version))?;
    let fields = fields_of(conn, session.tenant_id, entity_id).await?;
    let changed = fields.iter().filter_map(|field| {
        let text = text_of(last.value(), &field.slug)?;
        (Some(text) != text_of(&first, &field.slug)).then(|| (field.slug.clone(), value_of(field, text)))
    });
    Ok(changed.collect())
}

/// The document with which a canvas began; null if the content of its log is erased.
async fn first_document(conn: &mut Conn<'_>, session: &Session, canvas: &CanvasRecord) -> Result<Value> {
    let (events, _) = events_of_patches(conn, key(session), (0, canvas.version), 1).await?;
    let ops = events.first().and_then(committed).map(|first| first.ops).unwrap_or_default();
    Ok(match ops.into_iter().next() {
        Some(Operation::Replace { path, value }) if path.is_root() => value,
        _ => Value::Null,
    })
}

async fn fields_of(conn: &mut Conn<'_>, tenant_id: TenantId, id: EntityId) -> Result<Vec<FieldDef>> {
    let entity = store::entity::find(conn, tenant_id, id).await?.ok_or(Error::NotFound("entity"))?;
    let of_type = store::entity_type::find_by_slug(conn, tenant_id, &entity.type_slug).await?;
    Ok(of_type.ok_or(Error::NotFound("entity type"))?.fields)
}

/// The text of the block that has this id.
fn text_of<'a>(document: &'a Value, id: &str) -> Option<&'a str> {
    document.get("blocks")?.get(id)?.get("text")?.as_str()
}

/// The value that a text is for a field. An empty text clears the field. The contract of the task checks the rest.
fn value_of(field: &FieldDef, text: &str) -> Value {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Value::Null;
    }
    match field.kind {
        FieldType::Number => serde_json::from_str::<Number>(trimmed).map_or_else(|_| json!(trimmed), Value::Number),
        FieldType::Text => json!(text),
        FieldType::Select | FieldType::Date | FieldType::Relation => json!(trimmed),
    }
}
