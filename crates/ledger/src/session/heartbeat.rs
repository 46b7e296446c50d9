//! Keeping a lease.

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

/// Extends the holder's lease by its full length; answers with its new end.
pub async fn heartbeat(ledger: &Ledger, scope: &Scope, id: SessionId, attempt: u32) -> Result<Timestamp> {
    require(scope, Permission::Work)?;
    let (tenant_id, leases) = (scope.tenant_id, ledger.lease_time());
    ledger
        .store()
        .write(scope.into(), move |tx| {
            Box::pin(async move {
                let session =
                    store::session::find_locked(tx, tenant_id, id).await?.ok_or(Error::NotFound("session"))?;
                decide(state(&session), Actor::Worker { attempt }, Command::Heartbeat)?;
                let seconds = session.lease_seconds().unwrap_or(LEASE_SECONDS_DEFAULT);
                let expires_at = leases.now(tx.conn()).await? + TimeDelta::seconds(i64::from(seconds));
                // The row is locked: the compare-and-set can only succeed.
                store::session::extend_lease(tx, tenant_id, id, attempt, expires_at).await?;
                Ok(expires_at)
            })
        })
        .await
}
