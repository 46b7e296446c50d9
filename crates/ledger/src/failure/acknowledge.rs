//! Taking note of a failure.

use crate::{
    Error, FailureRecord, Ledger, Result,
    guard::require,
    visibility::{own_or_managed, require_visible},
};
use domain::{Scope, id::SessionId, role::Permission};

/// Takes note of a session's failure. Who started the session may; operators may any. A repeat answers with what is
/// recorded: the first one stands.
pub async fn acknowledge(ledger: &Ledger, scope: &Scope, session_id: SessionId) -> Result<FailureRecord> {
    require(scope, Permission::StartSession)?;
    let (scope, now) = (*scope, ledger.now());
    ledger
        .store()
        .write((&scope).into(), move |tx| {
            Box::pin(async move {
                let tenant_id = scope.tenant_id;
                let session = store::session::find(tx.conn(), tenant_id, session_id).await?;
                own_or_managed(&scope, &require_visible(tx.conn(), &scope, session).await?)?;
                let by = scope.caller.to_string();
                // Whether it was this call or an earlier one that took note: the row says.
                let _ = store::failure::acknowledge(tx, tenant_id, session_id, &by, now).await?;
                let failure = store::failure::find(tx.conn(), tenant_id, session_id).await?;
                failure.ok_or(Error::NotFound("failure"))
            })
        })
        .await
}
