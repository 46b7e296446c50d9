//! Begins the tries of steps whose pause is over.

use super::advance;
use crate::{Ledger, Result, commit::Minter};
use domain::Scope;
use store::Access;

/// Most tries that one sweep begins.
const BATCH: u32 = 200;

/// Advances every run with a try whose pause is over. Returns how many. A run that cannot be read or written does not
/// stop the others.
///
/// Safe to run on several servers at once: each run is advanced under its row's lock.
///
/// # Errors
/// The error of a run, after all runs were tried.
pub(crate) async fn advance_due(ledger: &Ledger) -> Result<u64> {
    let now = ledger.now();
    let read = ledger.store().read(Access::System, async move |conn| store::tool_step::due(conn, now, BATCH).await);
    let mut due = read.await?;
    due.sort_unstable();
    due.dedup();
    let (mut advanced, mut failure) = (0, None);
    for (tenant_id, id) in due {
        let (minter, key) = (Minter::new(ledger, now), ledger.instance_key().ok().cloned());
        let access = (&Scope::system(tenant_id)).into();
        let written = ledger.write(access, async move |tx| {
            let Some(run) = store::session::find_locked(tx, tenant_id, id).await? else { return Ok(()) };
            advance(tx, run, minter, key.as_ref()).await.map(drop)
        });
        match written.await {
            Ok(()) => advanced += 1,
            Err(error) => failure = Some(error),
        }
    }
    if advanced > 0 {
        ledger.runs_for_server().notify_one();
    }
    failure.map_or(Ok(advanced), Err)
}
