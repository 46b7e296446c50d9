//! The dependencies and dependents of a session.

use super::get::get_on;
use crate::{Ledger, Result, guard::require, visibility::can_see};
use domain::{Scope, id::SessionId, limit::DEPENDENTS_MAX, role::Permission, session::Session};
use store::{
    Conn,
    session::graph::{Neighbour, dependencies, dependents},
};

/// The sessions before and after a session.
#[derive(Debug, Clone, Default)]
pub struct Related {
    /// Sessions that it depends on, in the order in which they were named.
    pub dependencies: Vec<Neighbour>,
    /// Sessions that depend on it, oldest first.
    pub dependents: Vec<Neighbour>,
}

/// Returns the dependencies of a session and its first [`DEPENDENTS_MAX`] dependents.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session or the caller cannot see it.
pub async fn related(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<Related> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let session = get_on(conn, &reader, id).await?;
        related_on(conn, &reader, &session).await
    });
    read.await
}

/// [`related`] on an open connection. The caller has checked that the session is visible.
pub(crate) async fn related_on(conn: &mut Conn<'_>, scope: &Scope, session: &Session) -> Result<Related> {
    let (tenant_id, id) = (session.tenant_id, session.id);
    let dependencies = match session.dependency_count {
        0 => Vec::new(),
        _ => dependencies(conn, tenant_id, id).await?,
    };
    // Any number of sessions may depend on a session that has ended, because they do not wait for it. So the
    // list is limited.
    let dependents = dependents(conn, tenant_id, id, DEPENDENTS_MAX).await?;
    Ok(Related {
        dependencies: retain_visible(conn, scope, dependencies).await?,
        dependents: retain_visible(conn, scope, dependents).await?,
    })
}

/// Returns those of these sessions that the caller can see.
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
