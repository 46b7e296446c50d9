//! Extending a lease.

use crate::commit::state;
use crate::{Error, Ledger, Result, guard::require};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    id::SessionId,
    limit::LEASE_SECONDS_DEFAULT,
    role::Permission,
    session::{Actor, Command, decide},
};

/// Extends the lease of the session's worker by its full duration. Returns when it expires.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such session; [`Error::Refused`] if the worker does not hold it.
pub async fn heartbeat(ledger: &Ledger, scope: &Scope, id: SessionId, attempt: u32) -> Result<Timestamp> {
    require(scope, Permission::Work)?;
    let (tenant_id, leases) = (scope.tenant_id, ledger.lease_time());
    ledger
        .write(scope.into(), async move |tx| {
            let session = store::session::find_locked(tx, tenant_id, id).await?.ok_or(Error::NotFound("session"))?;
            decide(state(&session), Actor::Worker { attempt }, Command::Heartbeat)?;
            let seconds = session.lease_seconds().unwrap_or(LEASE_SECONDS_DEFAULT);
            let expires_at = leases.now(tx.conn()).await? + TimeDelta::seconds(i64::from(seconds));
            // The row is locked, so the compare-and-set always succeeds.
            store::session::extend_lease(tx, tenant_id, id, attempt, expires_at).await?;
            Ok(expires_at)
        })
        .await
}
