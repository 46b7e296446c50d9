//! One action.

use crate::{ActionRecord, Error, Ledger, Result, guard::require};
use domain::{Scope, id::ActionId, role::Permission};

/// An action of the workspace.
pub async fn get(ledger: &Ledger, scope: &Scope, id: ActionId) -> Result<ActionRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::action::find(conn, tenant_id, id)));
    read.await?.ok_or(Error::NotFound("action"))
}
