//! Claims sessions up to a concurrency limit and runs each in a task of its own.

use super::{
    adapter::Phase,
    lease::is_transient,
    limit,
    session::{End, Worker},
};
use client::{Backoff, Error};
use domain::limit::CLAIM_MAX;
use std::{sync::Arc, time::Duration};
use tokio::{
    select,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep, timeout},
};
use tokio_util::task::TaskTracker;
use wire::worker::{Claim, Claimed};

/// Claims sessions for a worker and runs up to a fixed number of them at a time.
#[derive(Debug)]
pub struct WorkerPool {
    worker: Arc<Worker>,
    agents: Vec<String>,
    lease_seconds: u32,
    slots: Arc<Semaphore>,
    seed: u64,
}

impl WorkerPool {
    /// Claims sessions of the agents with these slugs and runs at most `concurrency` at a time. Pools with different
    /// seeds retry at different times after a common failure.
    pub fn new(worker: Worker, agents: Vec<String>, concurrency: u32, seed: u64) -> Self {
        let lease_seconds = u32::try_from(worker.lease.as_secs()).unwrap_or(u32::MAX);
        let slots = Arc::new(Semaphore::new(concurrency as usize));
        Self { worker: Arc::new(worker), agents, lease_seconds, slots, seed }
    }

    /// Runs until the worker's phase is [`Phase::Draining`] and every claimed session has ended.
    ///
    /// # Errors
    /// The refusal of a claim, such as a token that is not valid.
    pub async fn work(&self) -> Result<(), Error> {
        let running = TaskTracker::new();
        let outcome = self.claim_while_working(&running).await;
        running.close();
        running.wait().await;
        outcome
    }

    /// Waits for one session and runs it. `None` if the worker starts to stop before a session is claimed.
    ///
    /// # Errors
    /// The refusal of a claim, such as a token that is not valid.
    pub async fn work_once(&self) -> Result<Option<End>, Error> {
        loop {
            if *self.worker.phase.borrow() >= Phase::Draining {
                return Ok(None);
            }
            let Some(claimed) = self.next(1).await? else { return Ok(None) };
            if let Some(session) = claimed.sessions.into_iter().next() {
                return Ok(Some(self.worker.run(session).await));
            }
        }
    }

    async fn claim_while_working(&self, running: &TaskTracker) -> Result<(), Error> {
        loop {
            let Some(mut slots) = self.free_slots().await else { return Ok(()) };
            let max = u32::try_from(slots.num_permits()).unwrap_or(CLAIM_MAX);
            let Some(claimed) = self.next(max).await? else { return Ok(()) };
            for session in claimed.sessions {
                let worker = Arc::clone(&self.worker);
                let slot = slots.split(1);
                running.spawn(async move {
                    worker.run(session).await;
                    drop(slot);
                });
            }
        }
    }

    /// Makes one claim. `None` if the worker is stopping and the claim has no answer.
    async fn next(&self, max: u32) -> Result<Option<Claimed>, Error> {
        let claim = Claim {
            agent_slugs: Some(self.agents.clone()),
            max: Some(max),
            lease_seconds: Some(self.lease_seconds),
            wait_seconds: Some(limit::CLAIM_WAIT_SECONDS),
        };
        let claimed_at = Instant::now();
        let claimed = self.retry_until_answered(|| self.claim(&claim)).await?;
        if claimed.as_ref().is_some_and(|claimed| claimed.sessions.is_empty())
            && claimed_at.elapsed() < limit::EMPTY_PAUSE
        {
            // A server that is stopping answers waiting claims at once with nothing.
            select! {
                () = sleep(limit::EMPTY_PAUSE) => {}
                () = self.worker.wait_for_phase(Phase::Draining) => {}
            }
        }
        Ok(claimed)
    }

    /// Waits for a free slot and takes all that are free, up to [`CLAIM_MAX`]. `None` once the worker is stopping.
    async fn free_slots(&self) -> Option<OwnedSemaphorePermit> {
        let mut slots = select! {
            biased;
            () = self.worker.wait_for_phase(Phase::Draining) => return None,
            slot = Arc::clone(&self.slots).acquire_owned() => slot.ok()?,
        };
        while slots.num_permits() < CLAIM_MAX as usize {
            match Arc::clone(&self.slots).try_acquire_owned() {
                Ok(another) => slots.merge(another),
                Err(_) => break,
            }
        }
        Some(slots)
    }

    /// Sends one claim. If the worker starts to stop, waits another [`limit::CLAIM_GRACE`] for the answer. Sessions in
    /// a late answer are run: releasing them at once would use up an attempt.
    async fn claim(&self, claim: &Claim) -> client::Result<Claimed> {
        let answer = self.worker.api.claim(claim);
        tokio::pin!(answer);
        select! {
            answer = &mut answer => answer,
            () = self.worker.wait_for_phase(Phase::Draining) => {
                timeout(limit::CLAIM_GRACE, answer).await.unwrap_or(Ok(Claimed { sessions: Vec::new() }))
            }
        }
    }

    /// Repeats a call while its error is transient. `None` if the worker starts to stop before there is an answer.
    ///
    /// # Errors
    /// The first error that is not transient.
    pub async fn retry_until_answered<T, F: Future<Output = client::Result<T>>>(
        &self,
        call: impl Fn() -> F,
    ) -> Result<Option<T>, Error> {
        let observer = &self.worker.observer;
        let mut backoff = Backoff::new(self.seed).between(Duration::from_millis(200), limit::AWAY_PAUSE_MAX);
        loop {
            let error = match call().await {
                Ok(answer) => {
                    if backoff.tries() > 0 {
                        observer.message("the server is back");
                    }
                    return Ok(Some(answer));
                }
                Err(error) if is_transient(&error) => error,
                Err(error) => return Err(error),
            };
            if backoff.tries() == 0 {
                observer.message(&format!("waiting for the server: {error}"));
            }
            let pause = backoff.pause(&error);
            select! {
                () = sleep(pause) => {}
                () = self.worker.wait_for_phase(Phase::Draining) => return Ok(None),
            }
        }
    }
}
