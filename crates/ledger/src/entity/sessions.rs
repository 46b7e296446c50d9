//! The sessions about an entity, and the status marks of its fields. The API operation is `listEntitySessions`.

use super::get_on;
use crate::{Error, Ledger, Result, guard::require};
use domain::{
    Scope,
    entity::{SessionTargets, TaskStatusMap, build_task_status_map, output_targets},
    id::EntityId,
    limit::{ENTITY_SESSIONS_DEFAULT, ENTITY_SESSIONS_MAX},
    role::Permission,
};
use std::collections::HashMap;
pub use store::session::OfEntity;

/// Returns the newest sessions about an entity. `limit` is 20 when `None` and at most 100. `parents_only` leaves
/// out sessions that another session started.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such entity; [`Error::Invalid`] for a `limit` of 0.
pub async fn list_sessions(
    ledger: &Ledger,
    scope: &Scope,
    id: EntityId,
    limit: Option<u32>,
    parents_only: bool,
) -> Result<Vec<OfEntity>> {
    require(scope, Permission::Read)?;
    let limit = match limit {
        None => ENTITY_SESSIONS_DEFAULT,
        Some(0) => return Err(Error::invalid("limit", "at least 1")),
        Some(limit) => limit.min(ENTITY_SESSIONS_MAX),
    };
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| {
        get_on(conn, tenant_id, id).await?;
        Ok(store::session::list_of_entity(conn, tenant_id, id, parents_only, limit).await?)
    });
    read.await
}

/// Returns the status mark of each field and block that the sessions' actions write. `sessions` is ordered
/// newest first.
pub fn status_map(sessions: &[OfEntity]) -> TaskStatusMap {
    let status_of = |session: &OfEntity| SessionTargets {
        id: session.id,
        status: session.status,
        targets: session.output_config.as_deref().map(output_targets).unwrap_or_default(),
    };
    let statuses: Vec<_> = sessions.iter().map(status_of).collect();
    build_task_status_map(&statuses, &HashMap::new())
}
