//! What ids and actors in events are called.

use crate::{EventRecord, Ledger, Result, guard::require, human};
use domain::{Scope, id::TenantId, role::Permission};
use store::Conn;

/// Names for what these events mention: see [`names`].
pub async fn names_in(ledger: &Ledger, scope: &Scope, events: &[EventRecord]) -> Result<Vec<(String, String)>> {
    require(scope, Permission::Read)?;
    let (tenant_id, events) = (scope.tenant_id, events.to_vec());
    ledger.snapshot(scope, move |conn| Box::pin(async move { names(conn, tenant_id, &events).await })).await
}

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
