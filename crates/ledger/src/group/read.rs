//! Reading the groups of a workspace.

use crate::{Error, GroupRecord, Ledger, Result, guard::require};
use domain::{Scope, id::GroupId, limit::GROUPS_MAX, role::Permission};

/// Returns all groups with their members, ordered by name. A workspace has at most [`GROUPS_MAX`] groups.
pub async fn list(ledger: &Ledger, scope: &Scope) -> Result<Vec<GroupRecord>> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read =
        ledger.store().read(scope.into(), async move |conn| store::group::list(conn, tenant_id, GROUPS_MAX).await);
    Ok(read.await?)
}

/// Returns a group of the workspace with its members.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such group.
pub async fn get(ledger: &Ledger, scope: &Scope, id: GroupId) -> Result<GroupRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| store::group::find(conn, tenant_id, id).await);
    read.await?.ok_or(Error::NotFound("group"))
}
