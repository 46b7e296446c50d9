//! The groups of a workspace.

use crate::{GroupRecord, Ledger, Result, guard::require};
use domain::{Scope, limit::GROUPS_MAX, role::Permission};

/// Returns all groups with their members, ordered by name. A workspace has at most [`GROUPS_MAX`] groups.
pub async fn list(ledger: &Ledger, scope: &Scope) -> Result<Vec<GroupRecord>> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::group::list(conn, tenant_id, GROUPS_MAX)));
    Ok(read.await?)
}
