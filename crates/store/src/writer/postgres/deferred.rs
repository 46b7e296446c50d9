//! Appends to sessions that somebody holds: they are put aside and looked after now and then, so that nobody else waits
//! with them.

use super::{PostgresLane, Waiting, locked::CommitMode};
use crate::{
    append::AppendRequest,
    conn::Access,
    error::Error,
    writer::{Counters, QUEUE_ITEMS_MAX, queue_full},
};
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// Between two looks at them.
const PAUSE: Duration = Duration::from_millis(20);

/// What waits for its session. It counts as queued, for the limits as for whoever watches the queue.
#[derive(Default)]
pub(super) struct DeferredAppends {
    waiting: Vec<Waiting>,
    /// When to look at them next; now and then, while there are any.
    next_retry: Option<Instant>,
}

impl DeferredAppends {
    pub(super) fn next_retry(&self) -> Option<Instant> {
        self.next_retry
    }

    pub(super) fn is_due(&self) -> bool {
        self.next_retry.is_some_and(|at| at <= Instant::now())
    }

    /// Whether appends to the same session of the same workspace wait already: the next one waits behind them. Nobody can
    /// tell by naming another workspace's session whether it is held.
    pub(super) fn has(&self, next: &AppendRequest) -> bool {
        let of = |request: &AppendRequest| (request.tenant_id, request.session_id);
        self.waiting.iter().any(|waiting| of(&waiting.request) == of(next))
    }

    /// Takes them in, as many as a lane may have waiting; the others are refused like what finds a queue full.
    pub(super) fn put(&mut self, appends: Vec<Waiting>, counters: &Counters) {
        for waiting in appends {
            if self.waiting.len() == QUEUE_ITEMS_MAX {
                let _ = waiting.reply.send(Err(queue_full().into()));
                continue;
            }
            counters.enqueued(waiting.request.bytes());
            self.waiting.push(waiting);
        }
        // Not later because of those who came meanwhile.
        if !self.waiting.is_empty() && self.next_retry.is_none() {
            self.next_retry = Some(Instant::now() + PAUSE);
        }
    }

    fn take(&mut self, counters: &Counters) -> Vec<Waiting> {
        self.next_retry = None;
        let taken = std::mem::take(&mut self.waiting);
        for waiting in &taken {
            counters.dequeued(waiting.request.bytes());
        }
        taken
    }
}

impl PostgresLane {
    /// Writes what can be written meanwhile, and refuses what has waited long enough: all of it when the lane stops.
    pub(super) async fn retry_deferred(&mut self, stop: bool) {
        let mut by_access: HashMap<Access, Vec<Waiting>> = HashMap::new();
        for waiting in self.deferred.take(&self.counters) {
            by_access.entry(waiting.access()).or_default().push(waiting);
        }
        for (access, appends) in by_access {
            let held = self
                .commit_under_lock(access, appends, CommitMode { skip_locked: true, ..CommitMode::default() })
                .await;
            let now = Instant::now();
            let (late, held): (Vec<_>, Vec<_>) = held.into_iter().partition(|waiting| stop || waiting.until <= now);
            for Waiting { request, reply, .. } in late {
                tracing::warn!(session_id = %request.session_id, "an append was given up: somebody holds its session");
                let refusal = Error::Unavailable("another transaction holds the session".into());
                let _ = reply.send(Err(refusal.into()));
            }
            self.deferred.put(held, &self.counters);
        }
    }
}
