//! Installs a tool of a bundle.

use super::Context;
use crate::{
    Error, Result, ToolRecord,
    audit::Act,
    tool::{check, check_groups, publish_on},
};
use domain::{
    audit::{Kind, TargetKind},
    bundle::{BundledTool, Comparison, PlannedItem, PlannedKind},
    id::ToolId,
    tool::{Change, State},
};
use serde_json::{Map, Value, json};
use store::WriteTx;

/// The order in which to install tools: a composite tool comes after the tools of the bundle that it runs, because
/// publishing it needs them. Tools that would run each other keep their order, and are refused.
pub(super) fn order(tools: &[BundledTool]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::with_capacity(tools.len());
    let runs = |tool: &BundledTool, slug: &str| {
        tool.composite.iter().flat_map(|composite| &composite.steps).any(|step| step.tool == slug)
    };
    while order.len() < tools.len() {
        let left: Vec<usize> = (0..tools.len()).filter(|index| !order.contains(index)).collect();
        let waits = |index: usize| left.iter().any(|other| *other != index && runs(&tools[index], &tools[*other].slug));
        let ready: Vec<usize> = left.iter().copied().filter(|index| !waits(*index)).collect();
        order.extend(if ready.is_empty() { left } else { ready });
    }
    order
}

pub(super) async fn install(tx: &mut WriteTx<'_>, context: &mut Context, wanted: &BundledTool) -> Result<PlannedItem> {
    let tenant_id = context.tenant_id;
    let before = store::tool::find_locked(tx, tenant_id, &wanted.slug).await?;
    let record = wanted_record(context, wanted, before.as_ref())?;
    let mut comparison = compare(before.as_ref(), &record, wanted);
    if comparison.differs() {
        check(&record)?;
        check_groups(tx.conn(), tenant_id, &record).await?;
        if before.is_some() {
            store::tool::update(tx, tenant_id, &record).await?;
        } else if !store::tool::insert(tx, tenant_id, &record).await? {
            return Err(Error::NameTaken("the slug"));
        }
    }
    if wanted.publish {
        let (published, is_changed) = publish_on(tx, &context.scope, record.clone(), context.now).await?;
        if is_changed {
            let act =
                Act::new(Kind::ToolPublished, context.scope.caller, context.now).on(TargetKind::Tool, published.id.0);
            context.acts.push(act.with(json!({ "version": published.version })));
        }
        let version = |tool: Option<&ToolRecord>| match tool {
            Some(tool) if tool.state == State::Published => tool.version.map_or(Value::Null, Value::from),
            _ => Value::Null,
        };
        comparison.field("published version", version(before.as_ref()), version(Some(&published)));
    }
    Ok(comparison.into_item(PlannedKind::Tool, &wanted.slug))
}

/// Returns the tool as it is after the installation.
fn wanted_record(context: &mut Context, wanted: &BundledTool, before: Option<&ToolRecord>) -> Result<ToolRecord> {
    let change = wanted.change();
    let Some(before) = before else {
        return Ok(ToolRecord {
            id: ToolId(context.new_id()),
            slug: wanted.slug.clone(),
            definition: change.define()?,
            state: State::Draft,
            version: None,
            revision: 1,
            published_revision: None,
            created_by: context.actor.clone(),
            updated_by: context.actor.clone(),
            created_at: context.now,
            updated_at: context.now,
        });
    };
    let definition = change.apply(before.definition.clone())?;
    if definition == before.definition {
        return Ok(before.clone());
    }
    let (revision, updated_by) = (before.revision + 1, context.actor.clone());
    Ok(ToolRecord { definition, revision, updated_by, updated_at: context.now, ..before.clone() })
}

/// Compares the parts that the bundle mentions.
fn compare(before: Option<&ToolRecord>, record: &ToolRecord, wanted: &BundledTool) -> Comparison {
    let parts = |change: Change| match serde_json::to_value(change) {
        Ok(Value::Object(parts)) => parts,
        _ => Map::new(),
    };
    let was = before.map(|before| parts(before.definition.clone().into())).unwrap_or_default();
    let becomes = parts(record.definition.clone().into());
    let part = |of: &Map<String, Value>, name: &str| of.get(name).cloned().unwrap_or_default();
    let mut comparison = Comparison::new(before.is_some());
    for name in parts(wanted.change()).keys() {
        comparison.field(name.as_str(), part(&was, name), part(&becomes, name));
    }
    comparison
}
