//! Which sessions one waits for, and which wait for it.

use super::get::get_on;
use crate::{Ledger, Result, SessionRecord, guard::require, visibility::can_see};
use domain::{Scope, id::SessionId, limit::DEPENDENTS_MAX, role::Permission};
use store::{
    Conn,
    session::graph::{Neighbour, dependencies, dependents},
};

/// The sessions before and after one.
#[derive(Debug, Clone, Default)]
pub struct Related {
    /// What it depends on, in the order in which it was named.
    pub dependencies: Vec<Neighbour>,
    /// What depends on it, oldest first.
    pub dependents: Vec<Neighbour>,
}

/// What a session depends on, and the first [`DEPENDENTS_MAX`] that depend on it.
pub async fn related(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Related> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            let session = get_on(conn, &reader, id).await?;
            related_on(conn, &reader, &session).await
        })
    });
    read.await
}

/// [`related`] on an open connection, of a session that the caller may know of.
pub(crate) async fn related_on(conn: &mut Conn<'_>, scope: &Scope, session: &SessionRecord) -> Result<Related> {
    let (tenant_id, id) = (session.tenant_id, session.id);
    let dependencies = match session.dependency_count {
        0 => Vec::new(),
        _ => dependencies(conn, tenant_id, id).await?,
    };
    // Sessions may come to depend on one that has ended; nobody waits for it then, so they are not bounded.
    let dependents = dependents(conn, tenant_id, id, DEPENDENTS_MAX).await?;
    Ok(Related {
        dependencies: retain_visible(conn, scope, dependencies).await?,
        dependents: retain_visible(conn, scope, dependents).await?,
    })
}

/// Those of these sessions that the caller may know of.
async fn retain_visible(
    conn: &mut Conn<'_>,
    scope: &Scope,
    neighbours: Vec<Neighbour>,
) -> store::Result<Vec<Neighbour>> {
    if neighbours.is_empty() {
        return Ok(neighbours);
    }
    let ids: Vec<SessionId> = neighbours.iter().map(|neighbour| neighbour.id).collect();
    let mut hidden = Vec::new();
    for session in store::session::list_by_ids(conn, scope.tenant_id, &ids).await? {
        if !can_see(conn, scope, &session).await? {
            hidden.push(session.id);
        }
    }
    Ok(neighbours.into_iter().filter(|neighbour| !hidden.contains(&neighbour.id)).collect())
}
