//! Writes a result to entities, in the caller's transaction. A result can need approval first.

use super::plan::{Step, plan};
use crate::{
    ActionRecord, EntityRecord, Error, Result,
    commit::{Minter, is_thread},
    entity::{checked, writable},
};
use domain::{
    action::OutputType,
    entity::Values,
    event::kind::{WriteEffect, WrittenEntity},
    gate::needs_approval,
    id::EntityId,
    session::Session,
};
use serde_json::{Map, Value};
use store::WriteTx;

/// The input of a write-back.
pub(crate) struct WriteBack<'a> {
    /// The action whose contract applies.
    pub(crate) action: &'a ActionRecord,
    /// The session of the result. New versions refer to it.
    pub(crate) session: &'a Session,
    /// The result, including changes by a reviewer.
    pub(crate) output: &'a Value,
    /// The author of the new versions.
    pub(crate) actor: &'a str,
    /// The time of the new versions, and the ids of new entities.
    pub(crate) minter: &'a Minter,
}

/// All entities of a write-back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Written(pub(crate) Vec<WrittenEntity>);

/// Writes a result to entities. The caller holds the session's lock. Entities are locked in the order of their
/// ids, so two results about the same entities cannot deadlock.
///
/// # Errors
/// [`Error::OutputInvalid`] if the result violates its contract.
pub(crate) async fn write_back(tx: &mut WriteTx<'_>, write: WriteBack<'_>) -> Result<Written> {
    let tenant_id = write.session.tenant_id;
    let planned = plan(tx.conn(), tenant_id, write.action, write.session, Some(write.output)).await?;
    let steps = planned.map_err(|errors| Error::OutputInvalid { errors, failed: false })?;
    let (mut updates, mut made) = (Vec::new(), Vec::new());
    for step in steps {
        match step {
            Step::Update { id, title, change } => updates.push((id, title, change)),
            Step::Create { entity_type, title, fields } => {
                made.push(EntityRecord {
                    id: write.minter.entity_id(),
                    type_id: entity_type.id,
                    type_slug: entity_type.slug,
                    title,
                    fields,
                    version: 1,
                    created_by: write.actor.to_owned(),
                    updated_by: write.actor.to_owned(),
                    created_at: write.minter.at(),
                    updated_at: write.minter.at(),
                    erased_at: None,
                });
            }
        }
    }
    updates.sort_by_key(|(id, ..)| *id);
    let mut written = Written::default();
    for (id, title, change) in updates {
        written.0.push(update(tx, &write, id, title, &change).await?);
    }
    store::entity::insert(tx, tenant_id, &made, Some(write.session.id)).await?;
    written.0.extend(made.into_iter().map(|entity| as_written(entity, WriteEffect::Created)));
    Ok(written)
}

async fn update(
    tx: &mut WriteTx<'_>,
    write: &WriteBack<'_>,
    id: EntityId,
    title: Option<String>,
    change: &Values,
) -> Result<WrittenEntity> {
    let tenant_id = write.session.tenant_id;
    let before = writable(tx, tenant_id, id).await?;
    let entity_type = store::entity_type::find(tx.conn(), tenant_id, before.type_id).await?;
    let entity_type = entity_type.ok_or(Error::NotFound("entity type"))?;
    let title = title.unwrap_or_else(|| before.title.clone());
    // The plan was made without the lock. A later version may make the change invalid, so it is checked again.
    let new_title = Some(title.as_str()).filter(|title| *title != before.title);
    let fields = checked(tx.conn(), tenant_id, &entity_type.fields, &before.fields, new_title, change).await?;
    if title == before.title && fields == before.fields {
        return Ok(as_written(before, WriteEffect::Unchanged));
    }
    let entity = EntityRecord {
        title,
        fields,
        version: before.version + 1,
        updated_by: write.actor.to_owned(),
        updated_at: write.minter.at(),
        ..before
    };
    store::entity::update(tx, tenant_id, &entity, Some(write.session.id)).await?;
    Ok(as_written(entity, WriteEffect::Updated))
}

fn as_written(entity: EntityRecord, effect: WriteEffect) -> WrittenEntity {
    WrittenEntity { entity_id: entity.id, entity_type: entity.type_slug, version: entity.version, effect }
}

/// Returns whether a person must approve the result, which the action's metadata says. Text of a conversation is
/// never staged, because the person has already read it turn by turn.
pub(crate) fn awaits_approval(action: &ActionRecord, session: &Session) -> bool {
    let metadata: Map<String, Value> = serde_json::from_str(&action.metadata).unwrap_or_default();
    needs_approval(&metadata) && !(action.output_type == OutputType::Text && is_thread(session))
}
