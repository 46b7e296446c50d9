//! Reading one response.

use crate::{Error, Ledger, ResponseRecord, Result, guard::require};
use domain::{Scope, id::SessionId, role::Permission};

/// Returns a response by the id of its session.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<ResponseRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read =
        ledger.store().read(scope.into(), move |conn| Box::pin(store::response::find(conn, tenant_id, id))).await?;
    read.ok_or(Error::NotFound("response"))
}
