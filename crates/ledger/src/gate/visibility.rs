//! Which gates a caller may see.

use super::not_found;
use crate::{Result, visibility::can_see};
use domain::{
    Scope,
    gate::{Gate, GateKind},
    id::{GateId, SessionId},
    session::Session,
};
use std::collections::HashSet;
use store::{Conn, WriteTx};

/// Locks a gate that the caller may see, and before it its session.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such gate or the caller may not see it.
pub(super) async fn lock(tx: &mut WriteTx<'_>, scope: &Scope, id: GateId) -> Result<(Session, Gate)> {
    let tenant_id = scope.tenant_id;
    let session_id = store::gate::session_of(tx.conn(), tenant_id, id).await?.ok_or_else(not_found)?;
    let session = store::session::find_locked(tx, tenant_id, session_id).await?.ok_or_else(not_found)?;
    let gate = store::gate::find_locked(tx, tenant_id, id).await?.ok_or_else(not_found)?;
    if gate.kind == GateKind::Question && !can_see(tx.conn(), scope, &session).await? {
        return Err(not_found());
    }
    Ok((session, gate))
}

/// Returns whether the caller may see a gate. Questions in an incognito conversation are visible to its person
/// only.
pub(super) async fn is_shown(conn: &mut Conn<'_>, scope: &Scope, gate: &Gate) -> store::Result<bool> {
    if gate.kind != GateKind::Question {
        return Ok(true);
    }
    match store::session::find(conn, gate.tenant_id, gate.session_id).await? {
        Some(session) => can_see(conn, scope, &session).await,
        None => Ok(true),
    }
}

/// Returns those of these gates that the caller may see, by the rule of [`is_shown`], with one query for all of them.
pub(super) async fn visible(conn: &mut Conn<'_>, scope: &Scope, mut gates: Vec<Gate>) -> store::Result<Vec<Gate>> {
    let asking = gates.iter().filter(|gate| gate.kind == GateKind::Question);
    let asking: Vec<SessionId> = asking.map(|gate| gate.session_id).collect();
    if asking.is_empty() {
        return Ok(gates);
    }
    let mut hidden = HashSet::new();
    for session in store::session::list_by_ids(conn, scope.tenant_id, &asking).await? {
        if !can_see(conn, scope, &session).await? {
            hidden.insert(session.id);
        }
    }
    gates.retain(|gate| gate.kind != GateKind::Question || !hidden.contains(&gate.session_id));
    Ok(gates)
}

/// Returns a gate of the workspace, if the caller may see it.
pub(crate) async fn find_on(conn: &mut Conn<'_>, scope: &Scope, id: GateId) -> Result<Option<Gate>> {
    let Some(gate) = store::gate::find(conn, scope.tenant_id, id).await? else { return Ok(None) };
    Ok(is_shown(conn, scope, &gate).await?.then_some(gate))
}
