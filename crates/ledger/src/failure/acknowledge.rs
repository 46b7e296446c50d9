//! Acknowledging a failure.

use crate::{
    Error, FailureRecord, Ledger, Result,
    guard::require,
    visibility::{own_or_managed, require_visible},
};
use domain::{Scope, id::SessionId, role::Permission};

/// Acknowledges the failure of a session. People may acknowledge failures of sessions that they started,
/// operators and admins all. A repeat changes nothing and returns the first acknowledgement.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session, the caller cannot see it, or it has no failure;
/// [`Error::Forbidden`] if the session is not the caller's and the caller may not manage others.
pub async fn acknowledge(ledger: &Ledger, scope: &Scope, session_id: SessionId) -> Result<FailureRecord> {
    require(scope, Permission::StartSession)?;
    let (scope, now) = (*scope, ledger.now());
    ledger
        .write((&scope).into(), async move |tx| {
            let tenant_id = scope.tenant_id;
            let session = store::session::find(tx.conn(), tenant_id, session_id).await?;
            own_or_managed(&scope, &require_visible(tx.conn(), &scope, session).await?)?;
            let by = scope.caller.to_string();
            // The result is ignored, because the row read below shows whoever acknowledged first.
            let _ = store::failure::acknowledge(tx, tenant_id, session_id, &by, now).await?;
            let failure = store::failure::find(tx.conn(), tenant_id, session_id).await?;
            failure.ok_or(Error::NotFound("failure"))
        })
        .await
}
