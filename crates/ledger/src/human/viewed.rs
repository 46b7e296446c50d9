//! Titles of entities that people viewed.

use crate::Result;
use domain::{
    event::{Body, Event},
    id::{EntityId, TenantId},
};
use store::Conn;

/// Returns the present titles of the entities that these events record as viewed. Entities that are not in the
/// workspace (any more) are left out. Needs one query, or none if no entity was viewed.
pub(crate) async fn viewed(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    events: &[Event],
) -> Result<Vec<(EntityId, String)>> {
    let entity = |event: &Event| match event.body() {
        Body::HumanEntityView(view) => Some(view.entity_id),
        _ => None,
    };
    let mut ids: Vec<EntityId> = events.iter().filter_map(entity).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let titles = store::entity::titles(conn, tenant_id, &ids).await?;
    Ok(titles.into_iter().map(|found| (found.id, found.title)).collect())
}
