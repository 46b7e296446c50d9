//! The progress of an import.

use crate::{Error, ImportRecord, Ledger, Result, guard::require};
use domain::{Scope, id::ImportId, role::Permission};

/// Returns an import of the workspace.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such import.
pub async fn get(ledger: &Ledger, scope: &Scope, id: ImportId) -> Result<ImportRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read =
        ledger.store().read(scope.into(), async move |conn| store::entity::import::find(conn, tenant_id, id).await);
    read.await?.ok_or(Error::NotFound("import"))
}
