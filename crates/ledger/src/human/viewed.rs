//! Names for what people looked at.

use crate::{EventRecord, Ledger, Result, guard::require};
use domain::{
    Scope,
    event::{Deed, read_human},
    id::EntityId,
    role::Permission,
};

/// Titles of the entities that these events say somebody looked at, as they are called now. Entities that are not in
/// the workspace (any more) are left out. One query, and none where nothing was looked at.
pub async fn viewed(ledger: &Ledger, scope: &Scope, events: &[EventRecord]) -> Result<Vec<(EntityId, String)>> {
    require(scope, Permission::Read)?;
    let entity = |event: &EventRecord| match read_human(&event.kind, &event.content, &event.metadata)?.deed {
        Deed::EntityView { entity_id, .. } => Some(entity_id),
        _ => None,
    };
    let mut ids: Vec<EntityId> = events.iter().filter_map(entity).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(async move { store::entity::titles(conn, tenant_id, &ids).await }));
    Ok(read.await?.into_iter().map(|(id, title, _)| (id, title)).collect())
}
