//! What ids and actors in events are called.

use crate::{EventRecord, Result, human};
use domain::{
    id::{EntityId, TenantId},
    limit::ENTITY_TITLES_MAX,
};
use std::collections::BTreeSet;
use store::Conn;

/// Names for what these events mention, by the text that the event holds: the entities that people looked at, and the
/// people who decided something.
pub(super) async fn names(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    events: &[EventRecord],
) -> Result<Vec<(String, String)>> {
    let viewed = human::viewed(conn, tenant_id, events).await?;
    let mut names: Vec<_> = viewed.into_iter().map(|(id, title)| (id.to_string(), title)).collect();
    let deciders = events.iter().filter(|event| event.kind.starts_with("user."));
    let deciders: Vec<&str> = deciders.map(|event| event.actor.as_str()).collect();
    if !deciders.is_empty() {
        let members = store::user::members(conn, tenant_id).await?;
        let called = members.iter().map(|member| (format!("user:{}", member.user_id), member.called().to_owned()));
        names.extend(called.filter(|(actor, _)| deciders.contains(&actor.as_str())));
    }
    Ok(names)
}

/// Titles of these entities by id, of [`ENTITY_TITLES_MAX`] of them; ids of none are left out.
pub(super) async fn titles(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    ids: BTreeSet<EntityId>,
) -> Result<Vec<(String, String)>> {
    let ids: Vec<EntityId> = ids.into_iter().take(ENTITY_TITLES_MAX).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let titles = store::entity::titles(conn, tenant_id, &ids).await?;
    Ok(titles.into_iter().map(|(id, title, _)| (id.to_string(), title)).collect())
}
