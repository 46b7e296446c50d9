//! Installs a criteria set of a bundle.

use super::Context;
use crate::{CriteriaSetRecord, Error, Result, criteria_set};
use domain::{
    bundle::{BundledCriteriaSet, Comparison, PlannedItem, PlannedKind},
    id::CriteriaSetId,
};
use serde_json::Value;
use store::WriteTx;

pub(super) async fn install(
    tx: &mut WriteTx<'_>,
    context: &mut Context,
    wanted: &BundledCriteriaSet,
) -> Result<PlannedItem> {
    let tenant_id = context.tenant_id;
    let before = match store::criteria_set::find_by_slug(tx.conn(), tenant_id, &wanted.slug).await? {
        Some(found) => store::criteria_set::find_locked(tx, tenant_id, found.id).await?,
        None => None,
    };
    let mut comparison = Comparison::new(before.is_some());
    let was = |value: fn(&CriteriaSetRecord) -> &str| before.as_ref().map_or(Value::Null, |b| value(b).into());
    comparison.field("name", was(|b| &b.name), wanted.name.as_str().into());
    if let Some(description) = &wanted.description {
        comparison.field("description", was(|b| &b.description), description.as_str().into());
    }
    let dimensions = before.as_ref().map_or(&[][..], |b| &b.dimensions);
    comparison.parts("dimensions", dimensions, &wanted.dimensions, |dimension| &dimension.slug);
    if comparison.differs() {
        let version = before.as_ref().map_or(1, |b| b.version + 1);
        let fresh = before.is_none();
        let record = CriteriaSetRecord {
            id: before.as_ref().map_or_else(|| CriteriaSetId(context.new_id()), |b| b.id),
            slug: wanted.slug.clone(),
            name: wanted.name.clone(),
            description: wanted
                .description
                .clone()
                .or_else(|| before.as_ref().map(|b| b.description.clone()))
                .unwrap_or_default(),
            dimensions: wanted.dimensions.clone(),
            version,
            newest_version: version,
            created_by: before.as_ref().map_or_else(|| context.actor.clone(), |b| b.created_by.clone()),
            updated_by: context.actor.clone(),
            created_at: before.as_ref().map_or(context.now, |b| b.created_at),
            updated_at: context.now,
        };
        criteria_set::check(&record)?;
        if !fresh {
            store::criteria_set::update(tx, tenant_id, &record).await?;
        } else if !store::criteria_set::insert(tx, tenant_id, &record).await? {
            return Err(Error::NameTaken("the slug"));
        }
    }
    Ok(comparison.into_item(PlannedKind::CriteriaSet, &wanted.slug))
}
