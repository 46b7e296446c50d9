//! Claims while there is room, and stops in good order.

use super::{
    adapter::Phase,
    lease::may_pass,
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

/// A worker, and what it claims.
#[derive(Debug)]
pub struct Crew {
    worker: Arc<Worker>,
    agents: Vec<String>,
    lease_seconds: u32,
    slots: Arc<Semaphore>,
    seed: u64,
}

impl Crew {
    /// Claims sessions of these agents, at most so many at a time. `seed` spreads the retries of crews that fail together.
    pub fn new(worker: Worker, agents: Vec<String>, concurrency: u32, seed: u64) -> Self {
        let lease_seconds = u32::try_from(worker.lease.as_secs()).unwrap_or(u32::MAX);
        let slots = Arc::new(Semaphore::new(concurrency as usize));
        Self { worker: Arc::new(worker), agents, lease_seconds, slots, seed }
    }

    /// Works until the worker is told to stop; returns when every session is out of its hands.
    ///
    /// # Errors
    /// When the desk refuses this worker.
    pub async fn work(&self) -> Result<(), Error> {
        let running = TaskTracker::new();
        let outcome = self.claim_while_working(&running).await;
        running.close();
        running.wait().await;
        outcome
    }

    /// Waits for one session and works on it. `None` when the worker was told to stop before there was one.
    ///
    /// # Errors
    /// When the desk refuses this worker.
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

    /// The answer to one claim. `None` once the worker is stopping and has no answer.
    async fn next(&self, max: u32) -> Result<Option<Claimed>, Error> {
        let claim = Claim {
            agent_slugs: Some(self.agents.clone()),
            max: Some(max),
            lease_seconds: Some(self.lease_seconds),
            wait_seconds: Some(limit::CLAIM_WAIT_SECONDS),
        };
        let asked = Instant::now();
        let claimed = self.patiently(|| self.claim(&claim)).await?;
        if claimed.as_ref().is_some_and(|claimed| claimed.sessions.is_empty()) && asked.elapsed() < limit::EMPTY_PAUSE {
            // A server that is stopping answers its waiting workers at once.
            select! {
                () = sleep(limit::EMPTY_PAUSE) => {}
                () = self.worker.reached(Phase::Draining) => {}
            }
        }
        Ok(claimed)
    }

    /// At least one free slot, and all others that are free now. `None` once the worker is stopping.
    async fn free_slots(&self) -> Option<OwnedSemaphorePermit> {
        let mut slots = select! {
            biased;
            () = self.worker.reached(Phase::Draining) => return None,
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

    /// One claim. When the worker is told to stop meanwhile, an answer on its way is given a moment, and what it
    /// brings is run like any other: released at once, it would only have lost an attempt.
    async fn claim(&self, claim: &Claim) -> client::Result<Claimed> {
        let answer = self.worker.desk.claim(claim);
        tokio::pin!(answer);
        select! {
            answer = &mut answer => answer,
            () = self.worker.reached(Phase::Draining) => {
                timeout(limit::CLAIM_GRACE, answer).await.unwrap_or(Ok(Claimed { sessions: Vec::new() }))
            }
        }
    }

    /// Makes a call until it is answered or refused; a server that is away or in trouble is waited for. `None` once
    /// the worker is stopping and has no answer.
    ///
    /// # Errors
    /// What the server refuses.
    pub async fn patiently<T, F: Future<Output = client::Result<T>>>(
        &self,
        call: impl Fn() -> F,
    ) -> Result<Option<T>, Error> {
        let report = &self.worker.report;
        let mut backoff = Backoff::new(self.seed).between(Duration::from_millis(200), limit::AWAY_PAUSE_MAX);
        loop {
            let error = match call().await {
                Ok(answer) => {
                    if backoff.tries() > 0 {
                        report.say("the server is back");
                    }
                    return Ok(Some(answer));
                }
                Err(error) if may_pass(&error) => error,
                Err(error) => return Err(error),
            };
            if backoff.tries() == 0 {
                report.say(&format!("waiting for the server: {error}"));
            }
            let pause = backoff.pause(&error);
            select! {
                () = sleep(pause) => {}
                () = self.worker.reached(Phase::Draining) => return Ok(None),
            }
        }
    }
}
