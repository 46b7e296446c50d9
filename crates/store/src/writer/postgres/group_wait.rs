//! Whether a lane waits for a group to fill.
//!
//! Whoever was just answered usually comes again at once, but not as soon as those who waited meanwhile: two halves would
//! take turns for ever, each paying a commit of its own. So the first lane waits for as many appends as it has lately seen
//! at once. With 8 connections on two cores that doubled the throughput and halved the latency (docs/benchmarks.md).

use std::time::Duration;
use tokio::time::Instant;

/// Longest wait. Tokio's clock ticks in milliseconds, so it may take two; it ends as soon as everybody is there.
const WAIT: Duration = Duration::from_millis(1);
/// Most groups in a row that are not waited for after waits in vain.
const PAUSE_MAX: u32 = 64;

/// How many appends are expected, and whether that was true before.
#[derive(Debug, Default)]
pub(super) struct GroupWait {
    items: usize,
    /// Groups to leave alone yet.
    pause: u32,
    /// How many to leave alone after the next wait in vain.
    next_pause: u32,
}

impl GroupWait {
    /// Until when a group of so many waits for more. `None`: not at all.
    pub(super) fn deadline(&mut self, items: usize) -> Option<Instant> {
        if self.is_complete(items) {
            return None;
        }
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        Some(Instant::now() + WAIT)
    }

    pub(super) fn is_complete(&self, items: usize) -> bool {
        items >= self.items
    }

    /// Everybody came.
    pub(super) fn record_complete(&mut self) {
        self.next_pause = 0;
    }

    /// The time was up.
    pub(super) fn record_timeout(&mut self) {
        self.pause = self.next_pause;
        self.next_pause = (self.next_pause * 2).clamp(1, PAUSE_MAX);
    }

    /// So many were there at once, in a group or behind it.
    pub(super) fn record_size(&mut self, items: usize) {
        self.items = items;
    }
}
