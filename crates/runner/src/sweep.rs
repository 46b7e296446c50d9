//! Sessions whose workers went silent go back to the queue; those that stood still for longer than they may expire; working sessions that people left open are abandoned.
//!
//! Now and then the store is kept in order as well. Every server may sweep: each session is decided under its row's lock, so that many do it once.

use ledger::{Ledger, gate, human, session};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// How often leases are looked at. A dead worker's session is back in the queue within its lease and
/// two of these.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// How often sessions are entered in the rolls of their workspaces.
const ROLL_EVERY: Duration = Duration::from_secs(1);
/// How often gates are looked at: decisions whose undo window is over, reminders, deadlines.
const SWEEP_GATES_EVERY: Duration = Duration::from_millis(500);
/// How often working sessions that were left open are looked for.
const SWEEP_WORKING_EVERY: Duration = Duration::from_secs(60);
/// How often the clock is set by the database's, where servers share one.
const SET_CLOCK_EVERY: Duration = Duration::from_secs(60);
/// How often the store is kept in order.
const MAINTAIN_EVERY: Duration = Duration::from_secs(6 * 3_600);

/// Sweeps until `stop`. A sweep that fails is tried again at the next tick.
pub async fn run(ledger: Ledger, stop: CancellationToken) {
    let mut ticks = interval(SWEEP_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut housekeeping = interval(MAINTAIN_EVERY);
    housekeeping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut working = interval(SWEEP_WORKING_EVERY);
    working.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut gates = interval(SWEEP_GATES_EVERY);
    gates.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut rolls = interval(ROLL_EVERY);
    rolls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut clock = interval(SET_CLOCK_EVERY);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = clock.tick() => if let Err(error) = ledger.set_clock().await {
                tracing::warn!(%error, "the database's clock cannot be asked; this server's own goes on");
            },
            _ = housekeeping.tick() => if let Err(error) = ledger.maintain().await {
                tracing::warn!(%error, "housekeeping failed; it is tried again later");
            },
            _ = working.tick() => match human::sweep(&ledger).await {
                Ok(Some(left)) if left > 0 => tracing::info!(left, "working sessions were left open; they are abandoned"),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "cannot look for working sessions that were left open"),
            },
            _ = gates.tick() => match gate::sweep(&ledger).await {
                Ok(swept) if swept != gate::Swept::default() => tracing::info!(?swept, "gates were carried on"),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "not every gate could be carried on; it is tried again"),
            },
            _ = rolls.tick() => if let Err(error) = session::roll(&ledger).await {
                tracing::warn!(%error, "sessions cannot be entered in the roll; it is tried again");
            },
            _ = ticks.tick() => match session::sweep(&ledger).await {
                Ok(swept) if swept != session::Swept::default() => {
                    let session::Swept { requeued, failed, expired, followed } = swept;
                    tracing::info!(requeued, failed, expired, followed, "leases or time limits ran out, or endings were followed up");
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "cannot look for leases that ran out"),
            },
        }
    }
}
