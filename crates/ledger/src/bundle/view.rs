//! Installs a view of a bundle.

use super::Context;
use crate::{
    Error, Result, ViewRecord,
    view::{self, publish_on, resolve, without_dimensions},
};
use domain::{
    bundle::{BundledView, Comparison, PlannedItem, PlannedKind},
    id::ViewId,
    view::{Publication, State},
};
use serde_json::Value;
use store::WriteTx;

pub(super) async fn install(tx: &mut WriteTx<'_>, context: &mut Context, wanted: &BundledView) -> Result<PlannedItem> {
    let tenant_id = context.tenant_id;
    let before = match store::view::find_by_slug(tx.conn(), tenant_id, &wanted.slug).await? {
        Some(found) if !found.listed => return Err(Error::NameTaken("the slug")),
        Some(found) => store::view::find_locked(tx, tenant_id, found.id).await?,
        None => None,
    };
    let record = wanted_record(context, wanted, before.as_ref());
    let mut comparison = compare(before.as_ref(), &record, wanted);
    if comparison.differs() {
        view::check(&context.ledger, &record)?;
        resolve(tx.conn(), tenant_id, &record).await?;
        if before.is_some() {
            store::view::update(tx, tenant_id, &record).await?;
        } else if !store::view::insert(tx, tenant_id, &record).await? {
            return Err(Error::NameTaken("the slug"));
        }
    }
    if wanted.publish {
        if record.fields.is_empty() {
            return Err(Error::invalid("fields", "a published view has at least one field"));
        }
        let published = publish_on(tx, tenant_id, record.clone(), (&context.actor, context.now)).await?;
        let version = |view: Option<&ViewRecord>| match view {
            Some(view) if view.state == State::Published => view.version.map_or(Value::Null, Value::from),
            _ => Value::Null,
        };
        comparison.field("published version", version(before.as_ref()), version(Some(&published)));
    }
    Ok(comparison.into_item(PlannedKind::View, &wanted.slug))
}

/// Returns the view as it is after the installation.
fn wanted_record(context: &mut Context, wanted: &BundledView, before: Option<&ViewRecord>) -> ViewRecord {
    let base = before.cloned().unwrap_or_else(|| ViewRecord {
        id: ViewId(context.new_id()),
        slug: wanted.slug.clone(),
        title: String::new(),
        introduction: String::new(),
        fields: Vec::new(),
        publication: Publication::default(),
        state: State::Draft,
        version: None,
        revision: 0,
        published_revision: None,
        listed: true,
        created_by: context.actor.clone(),
        updated_by: context.actor.clone(),
        created_at: context.now,
        updated_at: context.now,
    });
    let record = ViewRecord {
        title: wanted.title.clone(),
        introduction: wanted.introduction.clone().unwrap_or_else(|| base.introduction.clone()),
        fields: without_dimensions(wanted.fields.clone()),
        publication: wanted.publish_config.clone().unwrap_or_else(|| base.publication.clone()),
        ..base.clone()
    };
    if record == base {
        return record;
    }
    let revision = base.revision + 1;
    ViewRecord { revision, updated_by: context.actor.clone(), updated_at: context.now, ..record }
}

fn compare(before: Option<&ViewRecord>, record: &ViewRecord, wanted: &BundledView) -> Comparison {
    let mut comparison = Comparison::new(before.is_some());
    let was = |value: fn(&ViewRecord) -> &str| before.map_or(Value::Null, |b| value(b).into());
    comparison.field("title", was(|b| &b.title), record.title.as_str().into());
    if wanted.introduction.is_some() {
        comparison.field("introduction", was(|b| &b.introduction), record.introduction.as_str().into());
    }
    let fields = before.map_or(&[][..], |b| &b.fields);
    comparison.parts("fields", fields, &record.fields, |field| &field.key);
    if wanted.publish_config.is_some() {
        let config = |view: &ViewRecord| serde_json::to_value(&view.publication).unwrap_or_default();
        comparison.field("publishConfig", before.map_or(Value::Null, config), config(record));
    }
    comparison
}
