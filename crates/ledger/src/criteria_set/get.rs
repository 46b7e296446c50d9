//! Reading one criteria set.

use crate::{CriteriaSetRecord, Error, Ledger, Result, guard::require};
use domain::{Scope, id::CriteriaSetId, role::Permission};

/// Returns the newest version of a criteria set of the workspace.
pub async fn get(ledger: &Ledger, scope: &Scope, id: CriteriaSetId) -> Result<CriteriaSetRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::criteria_set::find(conn, tenant_id, id)));
    read.await?.ok_or(Error::NotFound("criteria set"))
}

/// Returns a given version of a criteria set of the workspace.
pub async fn get_version(ledger: &Ledger, scope: &Scope, id: CriteriaSetId, version: u64) -> Result<CriteriaSetRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::criteria_set::find_version(conn, tenant_id, id, version)));
    read.await?.ok_or(Error::NotFound("criteria set in that version"))
}
