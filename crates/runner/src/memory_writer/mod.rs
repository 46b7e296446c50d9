//! The writer pass: asks a cheap model what of an agent's conversations is worth remembering.
//!
//! Every server that has the model looks for work. The lease of an agent decides which of them does it. A run that
//! dies leaves its watermarks where they were, so the next server does it again.

mod config;
mod continuity;
mod pass;
#[cfg(test)]
mod tests;

pub use config::{MemoryAgentConfig, MemoryConfig};
pub use continuity::{ContinuityScorer, Scored};
pub use pass::{PassOutcome, WriterModel, run_once};

use domain::{Timestamp, id::TenantId, memory_writer::run::RunState};
use ledger::{Ledger, memory_writer::WriterTerms};
use std::{sync::Arc, time::Duration};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

/// Interval between two searches for work of one agent.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// Time for the last runs of every agent when the server stops.
const DRAIN: Duration = Duration::from_secs(5);

/// The writer of one agent.
#[derive(Debug, Clone)]
pub struct MemoryWriter {
    /// Workspace of the agent.
    pub tenant_id: TenantId,
    /// Slug of the agent.
    pub agent: String,
    /// When it runs and what it may do.
    pub terms: WriterTerms,
    /// What it asks, with the prices of the answers.
    pub writer_model: Arc<WriterModel>,
}

impl MemoryWriter {
    /// Looks for work until `stop`. Then the run that continues ends, and what is open is summarised, as far as both
    /// fit in five seconds. A run that does not fit is done again: nothing of it is written. What a server that died
    /// left is due at the start, and until a run has read it: its lease may have to run out first. `started` is when
    /// this server started, before anyone could write to it (UTC).
    pub async fn work(self, ledger: Ledger, started: Timestamp, stop: CancellationToken) {
        let late = async {
            stop.cancelled().await;
            sleep(DRAIN).await;
        };
        tokio::select! {
            () = self.look_until(&ledger, started, &stop) => {}
            () = late => {
                tracing::info!(agent = self.agent, "the memory writer could not finish; the next start does it");
            }
        }
        if let Err(error) = ledger::memory_writer::release(&ledger, self.tenant_id, &self.agent).await {
            tracing::warn!(%error, agent = self.agent, "the memory writer's lease runs out by itself");
        }
    }

    async fn look_until(&self, ledger: &Ledger, started: Timestamp, stop: &CancellationToken) {
        let mut ticks = interval(CHECK_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                _ = ticks.tick() => {}
            }
            self.look(ledger, started).await;
        }
        // What does not fit in one window is the next one's.
        while self.look(ledger, ledger.now()).await {}
    }

    /// Does a run if one is due. Sessions to which no one has written since `left_before` are due at once. Returns
    /// whether watermarks have moved, so that the next window is another one.
    async fn look(&self, ledger: &Ledger, left_before: Timestamp) -> bool {
        match run_once(ledger, self, Some(left_before)).await {
            Ok(PassOutcome::Ran(run)) => {
                let (state, turns) = (run.state.as_str(), run.turns);
                tracing::info!(agent = self.agent, state, turns, proposals = run.proposals, "the memory writer ran");
                run.state == RunState::Succeeded
            }
            Ok(PassOutcome::NoTurns) => true,
            Ok(PassOutcome::NotDue) => false,
            Err(error) => {
                tracing::warn!(%error, agent = self.agent, "the memory writer could not run");
                false
            }
        }
    }
}
