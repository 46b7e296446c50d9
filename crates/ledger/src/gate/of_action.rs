//! Finds the gate when a caller names an action.

use super::{not_found, visibility::visible};
use crate::{Error, Ledger, Result, guard::require};
use domain::{
    Scope,
    gate::GateKind,
    id::{ActionId, GateId},
    role::Permission,
};
use uuid::Uuid;

/// Returns the gate with this id, or the only open gate of the action with this id. If none is open, returns the
/// last gate of the action's newest session, so that a repeated decision gets the recorded one.
///
/// # Errors
/// [`Error::NotFound`] if there is no such gate and the action never had one, or if the caller may not see it;
/// [`Error::Invalid`] if sessions of the action wait at several gates, or if the gate is not of `kind`.
pub async fn of_action(ledger: &Ledger, scope: &Scope, id: Uuid, kind: Option<GateKind>) -> Result<(GateId, GateKind)> {
    require(scope, Permission::Read)?;
    let (reader, tenant_id) = (*scope, scope.tenant_id);
    let found = ledger
        .store()
        .read(scope.into(), async move |conn| {
            if let Some(own) = store::gate::find(conn, tenant_id, GateId(id)).await? {
                return visible(conn, &reader, vec![own]).await;
            }
            let open = store::gate::waiting_of_action(conn, tenant_id, ActionId(id), 2).await?;
            if !open.is_empty() {
                return visible(conn, &reader, open).await;
            }
            let last = store::gate::last_of_action(conn, tenant_id, ActionId(id)).await?;
            visible(conn, &reader, last.into_iter().collect()).await
        })
        .await?;
    let gate = match found.as_slice() {
        [gate] => gate,
        [] => return Err(not_found()),
        _ => {
            return Err(Error::invalid(
                "id",
                "several sessions of this task are waiting for a decision: name one approval",
            ));
        }
    };
    if kind.is_some_and(|kind| kind != gate.kind) {
        return Err(Error::invalid("kind", format!("this approval is of kind {}", gate.kind)));
    }
    Ok((gate.id, gate.kind))
}
