//! Trains the models that order memories, in workspaces whose newest model is a day old or that have none.

use ledger::{
    Ledger, Result,
    memory_ranker::{self, Learned, Refusal},
};
use std::time::Duration;
use tokio::{
    task::spawn_blocking,
    time::{Instant, MissedTickBehavior, interval_at},
};
use tokio_util::sync::CancellationToken;

/// Interval between searches for workspaces that are due.
const EVERY: Duration = Duration::from_secs(3_600);
/// Time after the start of a server at which the first search is, so that a start is not slower.
const FIRST_AFTER: Duration = Duration::from_secs(600);
/// Seed of each training.
const SEED: u32 = 1;

/// Runs until `stop`. A training that fails is repeated at the next interval. One that is under way at the end is not
/// stored.
pub async fn run(ledger: Ledger, stop: CancellationToken) {
    let mut ticks = interval_at(Instant::now() + FIRST_AFTER, EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        match stop.run_until_cancelled(train_all(&ledger)).await {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::warn!(%error, "memory rankers could not be trained; it is tried again"),
            None => return,
        }
    }
}

/// Trains in each workspace that is due, one after the other. Does nothing while another server does it.
async fn train_all(ledger: &Ledger) -> Result<()> {
    if !memory_ranker::lease(ledger).await? {
        return Ok(());
    }
    let mut after = String::new();
    loop {
        let due = memory_ranker::due(ledger, &after).await?;
        let Some(last) = due.last() else { return Ok(()) };
        after.clone_from(last);
        for workspace in due {
            train(ledger, &workspace).await?;
        }
    }
}

async fn train(ledger: &Ledger, workspace: &str) -> Result<()> {
    let samples = memory_ranker::samples_by_operator(ledger, workspace, |_| ()).await?;
    let learned = match spawn_blocking(move || memory_ranker::learn(samples, SEED.into(), |_| ())).await {
        Ok(learned) => learned,
        Err(error) => {
            tracing::error!(%error, "training a memory ranker ended badly");
            return Ok(());
        }
    };
    if let Some(stored) = memory_ranker::store_by_server(ledger, workspace, SEED, &learned).await? {
        let Learned { refusal, .. } = learned;
        let refusal = refusal.map(Refusal::as_str);
        tracing::info!(version = stored.version, in_use = stored.in_use, refusal, "a memory ranker was trained");
    }
    Ok(())
}
