//! Installs an action of a bundle, with the reviewers and criteria sets of its output.

use super::{Context, member};
use crate::{ActionRecord, Error, Result, action, action_input};
use domain::{
    action::{ActionStatus, OutputType},
    bundle::{BundledAction, Comparison, PlannedItem, PlannedKind},
    id::ActionId,
    output::CRITERIA_SETS,
};
use serde_json::{Map, Value};
use store::WriteTx;

type Object = Map<String, Value>;

pub(super) async fn install(
    tx: &mut WriteTx<'_>,
    context: &mut Context,
    wanted: &BundledAction,
) -> Result<PlannedItem> {
    let tenant_id = context.tenant_id;
    let before = match store::action::find_by_slug(tx.conn(), tenant_id, &wanted.slug).await? {
        Some(found) => store::action::find_locked(tx, tenant_id, found.id).await?,
        None => None,
    };
    let (old_config, old_metadata) = match &before {
        Some(before) => (object(&before.output_config)?, object(&before.metadata)?),
        None => Default::default(),
    };
    let config = output_config(tx, context, wanted, &old_config).await?;
    let metadata = metadata(tx, context, wanted, &old_metadata).await?;
    let comparison = compare(before.as_ref(), wanted, (&old_config, &config), (&old_metadata, &metadata));
    if comparison.differs() {
        let fresh = before.is_none();
        let base = before.unwrap_or_else(|| ActionRecord {
            id: ActionId(context.new_id()),
            name: String::new(),
            slug: wanted.slug.clone(),
            description: String::new(),
            agent_slug: None,
            assigned_to: None,
            target_entity_id: None,
            output_type: OutputType::Text,
            output_config: "{}".into(),
            metadata: "{}".into(),
            status: ActionStatus::Active,
            created_at: context.now,
            updated_at: context.now,
        });
        let record = ActionRecord {
            name: wanted.name.clone(),
            description: wanted.description.clone().unwrap_or(base.description),
            agent_slug: wanted.agent_slug.clone().or(base.agent_slug),
            output_type: wanted.output_type.unwrap_or(base.output_type),
            output_config: Value::Object(config).to_string(),
            metadata: Value::Object(metadata).to_string(),
            updated_at: context.now,
            ..base
        };
        action::check(&record)?;
        action_input::check(&record)?;
        action::check_references(tx.conn(), tenant_id, &record).await?;
        let written = if fresh {
            store::action::insert(tx, tenant_id, &record).await?
        } else {
            store::action::update(tx, tenant_id, &record).await?
        };
        if !written {
            return Err(Error::NameTaken("the slug"));
        }
    }
    Ok(comparison.into_item(PlannedKind::Action, &wanted.slug))
}

/// Parses a stored JSON object, to compare it with the bundle's.
fn object(json: &str) -> Result<Object> {
    serde_json::from_str(json).map_err(|error| Error::Internal(format!("an action's document is no object: {error}")))
}

fn compare(
    before: Option<&ActionRecord>,
    wanted: &BundledAction,
    (old_config, config): (&Object, &Object),
    (old_metadata, metadata): (&Object, &Object),
) -> Comparison {
    let mut comparison = Comparison::new(before.is_some());
    comparison.field("name", before.map_or(Value::Null, |b| b.name.as_str().into()), wanted.name.as_str().into());
    if let Some(description) = &wanted.description {
        let was = before.map_or(Value::Null, |b| b.description.as_str().into());
        comparison.field("description", was, description.as_str().into());
    }
    if let Some(agent) = &wanted.agent_slug {
        let was = before.and_then(|b| b.agent_slug.as_deref()).map_or(Value::Null, Value::from);
        comparison.field("agentSlug", was, agent.as_str().into());
    }
    if let Some(output_type) = wanted.output_type {
        let was = before.map_or(Value::Null, |b| b.output_type.as_str().into());
        comparison.field("outputType", was, output_type.as_str().into());
    }
    keys(&mut comparison, "outputConfig", old_config, config);
    keys(&mut comparison, "metadata", old_metadata, metadata);
    comparison
}

/// Compares two objects key by key. Each key is a field of the comparison.
fn keys(comparison: &mut Comparison, name: &str, before: &Object, after: &Object) {
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    for key in after.keys().chain(gone) {
        let value = |of: &Object| of.get(key).cloned().unwrap_or_default();
        comparison.field(format!("{name}.{key}"), value(before), value(after));
    }
}

/// Returns the wanted output contract, with the slugs of criteria sets replaced by their ids.
async fn output_config(
    tx: &mut WriteTx<'_>,
    context: &Context,
    wanted: &BundledAction,
    old: &Object,
) -> Result<Object> {
    let mut config = wanted.output_config.clone().unwrap_or_else(|| old.clone());
    let Some(slugs) = &wanted.criteria_sets else {
        // If the bundle does not mention criteria sets, those of the stored action are kept.
        if !CRITERIA_SETS.iter().any(|key| config.contains_key(*key)) {
            let kept = CRITERIA_SETS.iter().filter_map(|key| Some(((*key).to_owned(), old.get(*key)?.clone())));
            config.extend(kept);
        }
        return Ok(config);
    };
    let mut ids = Vec::new();
    for (index, slug) in slugs.iter().enumerate() {
        let found = store::criteria_set::find_by_slug(tx.conn(), context.tenant_id, slug).await?;
        let missing = || Error::invalid(format!("criteriaSets[{index}]"), format!("there is no criteria set `{slug}`"));
        ids.push(Value::from(found.ok_or_else(missing)?.id.to_string()));
    }
    config.retain(|key, _| !CRITERIA_SETS.contains(&key.as_str()));
    config.insert(CRITERIA_SETS[0].into(), ids.into());
    Ok(config)
}

/// Returns the wanted metadata with the approval settings, where addresses of people are replaced by their ids.
async fn metadata(tx: &mut WriteTx<'_>, context: &Context, wanted: &BundledAction, old: &Object) -> Result<Object> {
    let mut metadata = wanted.metadata.clone().unwrap_or_else(|| old.clone());
    let Some(approval) = &wanted.approval else {
        for key in [action::REQUIRES_APPROVAL, action::APPROVAL] {
            if let (Some(kept), false) = (old.get(key), metadata.contains_key(key)) {
                metadata.insert(key.into(), kept.clone());
            }
        }
        return Ok(metadata);
    };
    let mut approval = approval.clone();
    if let Some(Value::Array(reviewers)) = approval.get_mut("reviewers") {
        for (index, reviewer) in reviewers.iter_mut().enumerate() {
            resolve(tx, context, reviewer, &format!("approval.reviewers[{index}]")).await?;
        }
    }
    if let Some(escalate_to) = approval.get_mut("escalateTo") {
        resolve(tx, context, escalate_to, "approval.escalateTo").await?;
    }
    metadata.insert(action::REQUIRES_APPROVAL.into(), true.into());
    metadata.insert(action::APPROVAL.into(), approval.into());
    Ok(metadata)
}

/// Replaces the e-mail address of a reviewer by `user:<uuid>`. Other values are checked with the action.
async fn resolve(tx: &mut WriteTx<'_>, context: &Context, reviewer: &mut Value, field: &str) -> Result<()> {
    let Some(email) = reviewer.as_str().filter(|text| text.contains('@')) else { return Ok(()) };
    let found = member(tx.conn(), context.tenant_id, email).await?;
    let nobody = || Error::invalid(field, format!("no one in this workspace is `{email}`"));
    let id = found.ok_or_else(nobody)?;
    *reviewer = format!("user:{id}").into();
    Ok(())
}
