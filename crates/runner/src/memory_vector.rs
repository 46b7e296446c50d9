//! Makes the vectors of memories behind their writes, see [`Filler`]. First it reads those that exist into memory.

use ledger::{
    Ledger,
    memory_vector::{Filler, warm},
};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

/// Interval between searches for documents without vectors. What was written is found by its meaning about that late.
const EVERY: Duration = Duration::from_secs(1);
/// Pause between steps while there is more to do, in which writes and claims go first.
const STEP_PAUSE: Duration = Duration::from_millis(5);
/// Pause after a failure, such as a service that does not answer.
const FAILURE_PAUSE: Duration = Duration::from_secs(30);

/// Runs until `stop`. A step that fails is repeated after a pause.
pub async fn run(ledger: Ledger, stop: CancellationToken) {
    if let Some(Err(error)) = stop.run_until_cancelled(warm(&ledger)).await {
        tracing::warn!(%error, "vectors of memories are read at the first searches");
    }
    let mut filler = Filler::default();
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        loop {
            let pause = match stop.run_until_cancelled(filler.step(&ledger)).await {
                Some(Ok(step)) if step.more => STEP_PAUSE,
                Some(Ok(_)) => break,
                Some(Err(error)) => {
                    tracing::warn!(%error, "memories got no vectors; it is tried again");
                    FAILURE_PAUSE
                }
                None => return,
            };
            if stop.run_until_cancelled(sleep(pause)).await.is_none() {
                return;
            }
        }
    }
}
