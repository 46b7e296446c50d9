//! Asking for a run, and reading what became of runs.

use crate::{Error, Ledger, Result, guard::require};
use chrono::TimeDelta;
use domain::{Scope, role::Permission, slug::is_slug};
use store::memory_write::{RunRecord, WriterRecord};

/// Most runs of one answer.
const RUNS_MAX: u32 = 50;

/// Time after which a server that has not looked for an agent's work does not count as its writer.
const LOOKED_WITHIN: TimeDelta = TimeDelta::minutes(3);

/// Asks for a run of an agent's writer, also of a window that was parked. A run begins within seconds on a server that
/// has the writer's model. Returns whether such a server is at work; if not, the request waits for one. A repeat asks
/// for one run.
///
/// # Errors
/// [`Error::NotFound`] for a text that is not the slug of an agent.
pub async fn flush(ledger: &Ledger, scope: &Scope, agent: &str) -> Result<bool> {
    require(scope, Permission::ManageSessions)?;
    if !is_slug(agent) {
        return Err(Error::NotFound("agent"));
    }
    let (tenant_id, agent, now) = (scope.tenant_id, agent.to_owned(), ledger.now());
    let asked = ledger.store().write::<_, Error, _>(scope.into(), move |tx| {
        Box::pin(async move {
            let found = store::memory_write::find(tx.conn(), tenant_id, &agent).await?;
            store::memory_write::ensure(tx, tenant_id, &agent, now).await?;
            store::memory_write::flush(tx, tenant_id, &agent, now).await?;
            Ok(found.is_some_and(|found| now - found.tracked_until < LOOKED_WITHIN))
        })
    });
    asked.await
}

/// Returns the newest runs of an agent's writer, newest first.
pub async fn runs(ledger: &Ledger, scope: &Scope, agent: &str) -> Result<Vec<RunRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move { Ok(store::memory_write::runs(conn, tenant_id, &agent, RUNS_MAX).await?) })
    });
    read.await
}

/// Returns the state of an agent's writer.
///
/// # Errors
/// [`Error::NotFound`] if the agent has no writer.
pub async fn status(ledger: &Ledger, scope: &Scope, agent: &str) -> Result<WriterRecord> {
    require(scope, Permission::Read)?;
    let (tenant_id, agent) = (scope.tenant_id, agent.to_owned());
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            let found = store::memory_write::find(conn, tenant_id, &agent).await?;
            found.ok_or(Error::NotFound("memory writer"))
        })
    });
    read.await
}
