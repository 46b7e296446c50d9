//! Runs imports of entities. A request starts them; an import that was interrupted is continued after a restart.

use ledger::{ImportRecord, Ledger, entity::import};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Interval between searches for imports that no server works on.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Runs an import in a task of its own. If this process ends before it is done, [`run`] continues it.
pub fn start(ledger: &Ledger, import: &ImportRecord) {
    let (ledger, tenant_id, id) = (ledger.clone(), import.tenant_id, import.id);
    tokio::spawn(async move {
        if let Err(error) = import::run(&ledger, tenant_id, id).await {
            tracing::warn!(import = %id, %error, "an import waits; it is tried again later");
        }
    });
}

/// Continues interrupted imports until `stop`. Several servers can run it: each chunk is decided under the import's
/// lock.
pub async fn run(ledger: Ledger, stop: CancellationToken) {
    let mut ticks = interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        tokio::select! {
            biased;
            // A write that has begun finishes in its own task; the rest is left for the next start.
            () = stop.cancelled() => return,
            resumed = import::resume_stalled(&ledger) => match resumed {
                Ok(0) => {}
                Ok(finished) => tracing::info!(finished, "imports were taken up again"),
                Err(error) => tracing::warn!(%error, "cannot look for imports that were left lying"),
            },
        }
    }
}
