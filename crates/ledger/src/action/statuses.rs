//! How several actions stand.

use crate::{Ledger, Result, guard::require};
use domain::{Scope, action::ActionStatus, id::ActionId, role::Permission};
use std::collections::HashMap;

/// The statuses of these actions of the workspace. Ids of no action are left out.
pub async fn statuses(ledger: &Ledger, scope: &Scope, ids: Vec<ActionId>) -> Result<HashMap<ActionId, ActionStatus>> {
    require(scope, Permission::Read)?;
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(async move { store::action::statuses(conn, tenant_id, &ids).await }));
    Ok(read.await?)
}
