//! Reading one criteria set.

use crate::{CriteriaSetRecord, Error, Ledger, Result, guard::require};
use domain::{
    Scope,
    id::{CriteriaSetId, TenantId},
    role::Permission,
};
use store::Conn;

/// Returns a criteria set of the workspace at a version, or at its newest version.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such set, or the set has no such version.
pub async fn get(ledger: &Ledger, scope: &Scope, id: CriteriaSetId, version: Option<u64>) -> Result<CriteriaSetRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, move |conn| Box::pin(get_on(conn, tenant_id, id, version))).await
}

/// [`get`] on an open connection.
pub(crate) async fn get_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: CriteriaSetId,
    version: Option<u64>,
) -> Result<CriteriaSetRecord> {
    match version {
        Some(version) => {
            let found = store::criteria_set::find_version(conn, tenant_id, id, version).await?;
            found.ok_or(Error::NotFound("criteria set in that version"))
        }
        None => store::criteria_set::find(conn, tenant_id, id).await?.ok_or(Error::NotFound("criteria set")),
    }
}
