//! Counting the items that wait for the caller.

use super::by_role;
use crate::{Ledger, Result, guard::require};
use domain::{Scope, role::Permission};

/// Returns the number of open gates that the caller may decide and has not snoozed; 0 for a token. Counting
/// stops at `at_most`.
pub async fn count(ledger: &Ledger, scope: &Scope, at_most: u32) -> Result<u64> {
    require(scope, Permission::Read)?;
    let Some(user_id) = scope.user_id() else { return Ok(0) };
    let (tenant_id, by, now) = (scope.tenant_id, by_role(scope), ledger.now());
    let read = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::gate::count(conn, tenant_id, user_id, by, now, at_most)));
    Ok(read.await?)
}
