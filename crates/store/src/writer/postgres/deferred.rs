//! Appends to sessions that another transaction holds. They are deferred and retried at intervals, so that
//! they do not block other appends.

use super::{PostgresLane, Waiting, locked::CommitMode};
use crate::{
    engine::{Access, Error},
    event::AppendRequest,
    writer::job::{Counters, QUEUE_ITEMS_MAX, queue_full},
};
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// Time between two retries.
const RETRY_PAUSE: Duration = Duration::from_millis(20);

/// The deferred appends of a lane. They count as queued, in the limits and in the metrics.
#[derive(Default)]
pub(super) struct DeferredAppends {
    waiting: Vec<Waiting>,
    /// Time of the next retry; `None` if nothing is deferred.
    next_retry: Option<Instant>,
}

impl DeferredAppends {
    pub(super) fn next_retry(&self) -> Option<Instant> {
        self.next_retry
    }

    pub(super) fn is_due(&self) -> bool {
        self.next_retry.is_some_and(|at| at <= Instant::now())
    }

    /// Whether an append to the same session of the same workspace is deferred already; the next one then waits
    /// behind it. The workspace is compared too, so that a caller cannot find out whether a session of another
    /// workspace is held.
    pub(super) fn has(&self, next: &AppendRequest) -> bool {
        let of = |request: &AppendRequest| (request.tenant_id, request.session_id);
        self.waiting.iter().any(|waiting| of(&waiting.request) == of(next))
    }

    /// Defers appends up to the queue limit of a lane. Further ones are refused, as with a full queue.
    pub(super) fn put(&mut self, appends: Vec<Waiting>, counters: &Counters) {
        for waiting in appends {
            if self.waiting.len() == QUEUE_ITEMS_MAX {
                let _ = waiting.reply.send(Err(queue_full().into()));
                continue;
            }
            counters.enqueued(waiting.request.bytes());
            self.waiting.push(waiting);
        }
        // Appends that arrive later do not postpone the retry.
        if !self.waiting.is_empty() && self.next_retry.is_none() {
            self.next_retry = Some(Instant::now() + RETRY_PAUSE);
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
    /// Retries the deferred appends and refuses those that have waited too long. If `stop` is set, all that
    /// still cannot be written are refused.
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
                tracing::warn!(session_id = %request.session_id, "an append was given up: someone holds its session");
                let refusal = Error::Unavailable("another transaction holds the session".into());
                let _ = reply.send(Err(refusal.into()));
            }
            self.deferred.put(held, &self.counters);
        }
    }
}
