//! Counts of what happened since this process started, for `/metrics`.

use domain::{memory_writer::run::RunState, relevance::Refusal};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The counts, which only grow.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    leases_expired: AtomicU64,
    messages_given_up: AtomicU64,
    runs_succeeded: AtomicU64,
    runs_failed: AtomicU64,
    runs_parked: AtomicU64,
    ratings_accepted: AtomicU64,
    ratings_refused: [AtomicU64; Refusal::ALL.len()],
    ratings_not_read: AtomicU64,
}

/// The counts at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Sessions that this process took back from workers whose lease had expired.
    pub leases_expired: u64,
    /// Messages (webhooks, e-mail) that this process gave up.
    pub messages_given_up: u64,
    /// Runs of memory writers by their state, in the order of [`RunState`]'s variants. Those without turns to read are
    /// not counted.
    pub writer_runs: [(RunState, u64); 3],
    /// Ratings of memories by result: those that count, those that do not by their reason, and those that
    /// were not read.
    pub memory_ratings: [(&'static str, u64); Refusal::ALL.len() + 2],
}

impl Activity {
    pub(crate) fn lease_expired(&self) {
        self.leases_expired.fetch_add(1, Relaxed);
    }

    pub(crate) fn messages_given_up(&self, messages: u64) {
        self.messages_given_up.fetch_add(messages, Relaxed);
    }

    pub(crate) fn writer_ran(&self, state: RunState) {
        self.runs(state).fetch_add(1, Relaxed);
    }

    pub(crate) fn memories_rated(&self, accepted: u64, refused: impl Iterator<Item = Refusal>, not_read: u64) {
        self.ratings_accepted.fetch_add(accepted, Relaxed);
        for reason in refused {
            for (one, count) in Refusal::ALL.into_iter().zip(&self.ratings_refused) {
                count.fetch_add(u64::from(one == reason), Relaxed);
            }
        }
        self.ratings_not_read.fetch_add(not_read, Relaxed);
    }

    fn ratings(&self) -> [(&'static str, u64); Refusal::ALL.len() + 2] {
        std::array::from_fn(|at| match Refusal::ALL.get(at).zip(self.ratings_refused.get(at)) {
            Some((reason, count)) => (reason.as_str(), count.load(Relaxed)),
            None if at == Refusal::ALL.len() => ("accepted", self.ratings_accepted.load(Relaxed)),
            None => ("not_read", self.ratings_not_read.load(Relaxed)),
        })
    }

    const fn runs(&self, state: RunState) -> &AtomicU64 {
        match state {
            RunState::Succeeded => &self.runs_succeeded,
            RunState::Failed => &self.runs_failed,
            RunState::Parked => &self.runs_parked,
        }
    }

    pub(crate) fn counted(&self) -> Counted {
        Counted {
            leases_expired: self.leases_expired.load(Relaxed),
            messages_given_up: self.messages_given_up.load(Relaxed),
            writer_runs: [RunState::Succeeded, RunState::Failed, RunState::Parked]
                .map(|state| (state, self.runs(state).load(Relaxed))),
            memory_ratings: self.ratings(),
        }
    }
}
