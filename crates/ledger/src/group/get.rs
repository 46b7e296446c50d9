//! Reading one group.

use crate::{Error, GroupRecord, Ledger, Result, guard::require};
use domain::{Scope, id::GroupId, role::Permission};

/// Returns a group of the workspace with its members.
pub async fn get(ledger: &Ledger, scope: &Scope, id: GroupId) -> Result<GroupRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::group::find(conn, tenant_id, id)));
    read.await?.ok_or(Error::NotFound("group"))
}
