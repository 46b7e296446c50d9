//! Sessions whose workers went silent go back to the queue.
//!
//! Now and then the store is kept in order as well. Every server may sweep: each session is decided under its row's lock, so that many do it once.

use ledger::{Ledger, session};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// How often leases are looked at. A dead worker's session is back in the queue within its lease and
/// two of these.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// How often the store is kept in order.
const MAINTAIN_EVERY: Duration = Duration::from_secs(6 * 3_600);

/// Sweeps until `stop`. A sweep that fails is tried again at the next tick.
pub async fn run(ledger: Ledger, stop: CancellationToken) {
    let mut ticks = interval(SWEEP_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut housekeeping = interval(MAINTAIN_EVERY);
    housekeeping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = housekeeping.tick() => if let Err(error) = ledger.maintain().await {
                tracing::warn!(%error, "housekeeping failed; it is tried again later");
            },
            _ = ticks.tick() => match session::sweep(&ledger).await {
                Ok(swept) if swept.requeued + swept.failed > 0 => {
                    tracing::info!(requeued = swept.requeued, failed = swept.failed, "leases ran out");
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "cannot look for leases that ran out"),
            },
        }
    }
}
