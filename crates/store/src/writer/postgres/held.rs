//! Appends to sessions that somebody holds: they are put aside and looked after now and then, so that nobody else waits
//! with them.

use super::{PostgresLane, Waiting, locked::Way};
use crate::{conn::Access, error::Error, writer::Counters};
use domain::id::SessionId;
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// Between two looks at them.
const PAUSE: Duration = Duration::from_millis(20);

/// What waits for its session. It counts as queued, for the limits as for whoever watches the queue.
#[derive(Default)]
pub(super) struct Held {
    waiting: Vec<Waiting>,
    /// When to look at them next; now and then, while there are any.
    next_look: Option<Instant>,
}

impl Held {
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.next_look
    }

    pub(super) fn is_due(&self) -> bool {
        self.next_look.is_some_and(|at| at <= Instant::now())
    }

    /// Whether appends to this session wait already: the next one waits behind them.
    pub(super) fn has(&self, session_id: SessionId) -> bool {
        self.waiting.iter().any(|waiting| waiting.request.session_id == session_id)
    }

    pub(super) fn put(&mut self, appends: Vec<Waiting>, counters: &Counters) {
        for waiting in &appends {
            counters.came(waiting.request.bytes());
        }
        self.waiting.extend(appends);
        // Not later because of those who came meanwhile.
        if !self.waiting.is_empty() && self.next_look.is_none() {
            self.next_look = Some(Instant::now() + PAUSE);
        }
    }

    fn take(&mut self, counters: &Counters) -> Vec<Waiting> {
        self.next_look = None;
        let taken = std::mem::take(&mut self.waiting);
        for waiting in &taken {
            counters.left(waiting.request.bytes());
        }
        taken
    }
}

impl PostgresLane {
    /// Writes what can be written meanwhile, and refuses what has waited long enough: all of it when the lane stops.
    pub(super) async fn look_at_held(&mut self, stop: bool) {
        let mut by_access: HashMap<Access, Vec<Waiting>> = HashMap::new();
        for waiting in self.held.take(&self.counters) {
            by_access.entry(waiting.access()).or_default().push(waiting);
        }
        for (access, appends) in by_access {
            let held = self.commit_under_lock(access, appends, Way { around_held: true, ..Way::default() }).await;
            let now = Instant::now();
            let (late, held): (Vec<_>, Vec<_>) = held.into_iter().partition(|waiting| stop || waiting.until <= now);
            for Waiting { request, reply, .. } in late {
                tracing::warn!(session_id = %request.session_id, "an append was given up: somebody holds its session");
                let refusal = Error::Unavailable("another transaction holds the session".into());
                let _ = reply.send(Err(refusal.into()));
            }
            self.held.put(held, &self.counters);
        }
    }
}
