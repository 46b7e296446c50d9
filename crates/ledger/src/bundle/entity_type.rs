//! Installs an entity type of a bundle.

use super::Context;
use crate::{EntityTypeRecord, Error, Result, entity_type};
use domain::{
    bundle::{BundledEntityType, Comparison, PlannedItem, PlannedKind},
    id::EntityTypeId,
};
use serde_json::Value;
use store::WriteTx;

/// Installs the type without checking its relations. Also returns the type as it is afterwards, so that the
/// caller can check them when all types exist.
pub(super) async fn install(
    tx: &mut WriteTx<'_>,
    context: &mut Context,
    wanted: &BundledEntityType,
) -> Result<(PlannedItem, EntityTypeRecord)> {
    let tenant_id = context.tenant_id;
    let before = match store::entity_type::find_by_slug(tx.conn(), tenant_id, &wanted.slug).await? {
        Some(found) => store::entity_type::find_locked(tx, tenant_id, found.id).await?,
        None => None,
    };
    let mut comparison = Comparison::new(before.is_some());
    let name = before.as_ref().map_or(Value::Null, |b| b.name.as_str().into());
    comparison.field("name", name, wanted.name.as_str().into());
    let fields = before.as_ref().map_or(&[][..], |b| &b.fields);
    comparison.parts("fields", fields, &wanted.fields, |field| &field.slug);
    let record = match (before, comparison.differs()) {
        (Some(before), false) => before,
        (before, _) => {
            let fresh = before.is_none();
            let record = EntityTypeRecord {
                id: before.as_ref().map_or_else(|| EntityTypeId(context.new_id()), |b| b.id),
                slug: wanted.slug.clone(),
                name: wanted.name.clone(),
                fields: wanted.fields.clone(),
                version: before.as_ref().map_or(1, |b| b.version + 1),
                created_by: before.as_ref().map_or_else(|| context.actor.clone(), |b| b.created_by.clone()),
                created_at: before.as_ref().map_or(context.now, |b| b.created_at),
                updated_at: context.now,
            };
            entity_type::check(&record)?;
            if !fresh {
                store::entity_type::update(tx, tenant_id, &record).await?;
            } else if !store::entity_type::insert(tx, tenant_id, &record).await? {
                return Err(Error::NameTaken("the slug"));
            }
            record
        }
    };
    Ok((comparison.into_item(PlannedKind::EntityType, &wanted.slug), record))
}
