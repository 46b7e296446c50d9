//! Workspaces whose ranker is due for training by a server.

use crate::{Ledger, Result};
use chrono::TimeDelta;
use store::Access;

/// Most workspaces that are returned at once.
const BATCH: u32 = 100;
/// Age of the newest model from which on a workspace is due.
const AGE: TimeDelta = TimeDelta::hours(24);
/// Name of the row in `leases`.
const LEASE: &str = "memory-rankers";
/// Duration of a server's lease on the training. Other servers do not train until it is over.
const LEASE_TIME: TimeDelta = TimeDelta::minutes(90);

/// Returns the slugs, after this one, of workspaces that have considered memories and no model of the last 24 hours.
/// Empty at the end.
pub async fn due(ledger: &Ledger, after: &str) -> Result<Vec<String>> {
    let (after, since) = (after.to_owned(), ledger.now() - AGE);
    let read = ledger
        .store()
        .read(Access::System, async move |conn| store::memory_ranker::due(conn, &after, since, BATCH).await);
    Ok(read.await?)
}

/// Takes the lease on the training. Returns false while another server holds it.
pub async fn lease(ledger: &Ledger) -> Result<bool> {
    let (holder, leases) = (ledger.instance().to_owned(), ledger.lease_time());
    let taken = ledger.write(Access::System, async move |tx| {
        let now = leases.now(tx.conn()).await?;
        Ok(store::lease::take(tx, LEASE, &holder, now, now + LEASE_TIME).await?)
    });
    taken.await
}
