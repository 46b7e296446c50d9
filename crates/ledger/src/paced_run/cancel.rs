//! Cancelling a paced run.

use super::{
    is_shown, not_found,
    read::{PacedRunDetail, detail_on},
};
use crate::{Ledger, Result, guard::require};
use domain::{Scope, id::PacedRunId, role::Permission};

/// Cancels a paced run: no further session of it is started. Those that it has started go on. A repeat changes nothing,
/// and neither does cancelling a run that is done.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such paced run, or it is of someone else and the caller may not manage
/// sessions of others.
pub async fn cancel(ledger: &Ledger, scope: &Scope, id: PacedRunId) -> Result<PacedRunDetail> {
    require(scope, Permission::StartSession)?;
    let (caller, now) = (*scope, ledger.now());
    ledger
        .write(scope.into(), async move |tx| {
            let tenant_id = caller.tenant_id;
            let found = store::paced_run::find_locked(tx, tenant_id, id).await?;
            found.filter(|run| is_shown(&caller, run)).ok_or_else(not_found)?;
            store::paced_run::cancel(tx, tenant_id, id, now).await?;
            let run = store::paced_run::find(tx.conn(), tenant_id, id).await?.ok_or_else(not_found)?;
            detail_on(tx.conn(), &caller, run).await
        })
        .await
}
