//! Reading one response.

use super::leads::hide_lead;
use crate::{Error, Ledger, ResponseRecord, Result, guard::require, visibility::require_visible};
use domain::{Scope, id::SessionId, role::Permission};

/// Returns a response by the id of its session. Without [`Permission::ReadLeads`] it does not name the lead.
///
/// # Errors
/// [`Error::NotFound`] if there is no such response or the caller cannot see its session.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<ResponseRecord> {
    require(scope, Permission::Read)?;
    let reader = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let response = store::response::find(conn, reader.tenant_id, id).await?;
        let response = response.ok_or(Error::NotFound("response"))?;
        let session = store::session::find(conn, reader.tenant_id, id).await?;
        require_visible(conn, &reader, session).await.map_err(|_| Error::NotFound("response"))?;
        Ok(response)
    });
    let mut response = read.await?;
    hide_lead(scope, &mut response);
    Ok(response)
}
