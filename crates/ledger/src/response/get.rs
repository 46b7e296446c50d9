//! Reading one response.

use super::leads::hide_lead;
use crate::{Error, Ledger, ResponseRecord, Result, guard::require};
use domain::{Scope, id::SessionId, role::Permission};

/// Returns a response by the id of its session. Without [`Permission::ReadLeads`] it does not name the lead.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<ResponseRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read =
        ledger.store().read(scope.into(), move |conn| Box::pin(store::response::find(conn, tenant_id, id))).await?;
    let mut response = read.ok_or(Error::NotFound("response"))?;
    hide_lead(scope, &mut response);
    Ok(response)
}
