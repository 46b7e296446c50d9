//! Fills the index of the search over events, see [`Indexer`].

use ledger::{Ledger, search::Indexer};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Interval between two times that notices are taken, so that none is lost while many are sent.
const LISTEN_EVERY: Duration = Duration::from_millis(50);
/// Number of these intervals between steps while the index is up to date: 250 ms. What was recorded is found about that
/// long after.
const LISTENED_BEFORE_STEP: u32 = 5;
/// Pause between steps while there is more to do, in which appends and claims go first.
const STEP_PAUSE: Duration = Duration::from_millis(5);

/// Runs until `stop`. A step that fails is repeated at the next interval.
pub async fn run(ledger: Ledger, stop: CancellationToken) {
    let mut indexer = Indexer::new(&ledger);
    let mut ticks = interval(LISTEN_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut listened = 0;
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        indexer.listen(&ledger);
        listened = (listened + 1) % LISTENED_BEFORE_STEP;
        if listened != 0 {
            continue;
        }
        loop {
            match indexer.step(&ledger).await {
                Ok(step) if step.more => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(%error, "events could not be made searchable; it is tried again");
                    break;
                }
            }
            if stop.run_until_cancelled(tokio::time::sleep(STEP_PAUSE)).await.is_none() {
                return;
            }
        }
    }
}
