//! Which gate a caller means who names an action.

use super::not_found;
use crate::{Error, Ledger, Result, guard::require};
use domain::{
    Scope,
    gate::GateKind,
    id::{ActionId, GateId},
    role::Permission,
};
use uuid::Uuid;

/// The gate of this id, or the one open gate of the action of this id.
///
/// # Errors
/// [`Error::Invalid`] when the action's sessions wait at several gates.
pub async fn of_action(ledger: &Ledger, scope: &Scope, id: Uuid, kind: Option<GateKind>) -> Result<GateId> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let (own, of_action) = ledger
        .store()
        .read(scope.into(), move |conn| {
            Box::pin(async move {
                let own = store::gate::find(conn, tenant_id, GateId(id)).await?;
                Ok((own, store::gate::waiting_of_action(conn, tenant_id, ActionId(id), 2).await?))
            })
        })
        .await?;
    let found = match (own, of_action.as_slice()) {
        (Some(gate), _) => gate,
        (None, [gate]) => gate.clone(),
        (None, []) => return Err(not_found()),
        (None, _) => {
            return Err(Error::invalid("id", "several sessions of this action wait for a decision: name one approval"));
        }
    };
    // Who does not say a kind means a tool's, as the first clients did; `output` and `fields` must be meant.
    if found.kind != kind.unwrap_or(GateKind::Tool) {
        return Err(Error::invalid("kind", format!("this approval is of kind {}", found.kind)));
    }
    Ok(found.id)
}
