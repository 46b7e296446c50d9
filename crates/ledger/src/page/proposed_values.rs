//! What a list says about the values that items would write: the names of their fields, and which of them the entity
//! has already.

use crate::{Result, gate::GateItem};
use domain::{
    entity::FIELD_TITLE,
    gate::{GateKind, State},
    id::{EntityId, GateId, TenantId},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::Conn;

/// Most entity types whose fields' names are read.
const TYPES_MAX: u32 = 100;

fn is_write(item: &GateItem) -> bool {
    matches!(item.gate.kind, GateKind::Output | GateKind::Fields)
}

/// Names of the fields that items would change, by slug. A slug that types name differently is left out.
pub(super) async fn labels<'a>(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    mut items: impl Iterator<Item = &'a GateItem>,
) -> Result<BTreeMap<String, String>> {
    if !items.any(is_write) {
        return Ok(BTreeMap::new());
    }
    field_names(conn, tenant_id).await
}

/// Names of the fields of entities, by slug. A slug that types name differently is left out.
pub(super) async fn field_names(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<BTreeMap<String, String>> {
    let types = store::entity_type::list(conn, tenant_id, None, TYPES_MAX).await?;
    let mut names: BTreeMap<String, Option<String>> = BTreeMap::new();
    for field in types.items.into_iter().flat_map(|found| found.fields) {
        let name = names.entry(field.slug).or_insert_with(|| Some(field.name.clone()));
        if name.as_ref() != Some(&field.name) {
            *name = None;
        }
    }
    Ok(names.into_iter().filter_map(|(slug, name)| Some((slug, name?))).collect())
}

/// Keys of proposed values of open items that their entities have already.
pub(super) async fn unchanged<'a>(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    items: impl Iterator<Item = &'a GateItem>,
) -> Result<HashMap<GateId, BTreeSet<String>>> {
    let writes = items.filter(|item| is_write(item) && matches!(item.gate.state, State::Open));
    let writes: Vec<(EntityId, &GateItem)> = writes.filter_map(|item| Some((item.gate.entity_id?, item))).collect();
    let ids: BTreeSet<EntityId> = writes.iter().map(|(id, _)| *id).collect();
    let ids: Vec<EntityId> = ids.into_iter().collect();
    let found = store::entity::values(conn, tenant_id, &ids).await?;
    let found: HashMap<_, _> = found.into_iter().map(|entity| (entity.id, entity)).collect();
    let mut unchanged = HashMap::new();
    for (id, item) in writes {
        let (Some(entity), Some(values)) = (found.get(&id), &item.proposed) else { continue };
        let has = |(key, value): &(&String, &Value)| match key.as_str() {
            FIELD_TITLE => value.as_str() == Some(entity.title.as_str()),
            key => entity.values.get(key) == Some(*value),
        };
        let keys: BTreeSet<String> = values.iter().filter(has).map(|(key, _)| key.clone()).collect();
        if !keys.is_empty() {
            unchanged.insert(item.gate.id, keys);
        }
    }
    Ok(unchanged)
}
