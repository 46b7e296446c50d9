//! Decides whether a lane waits for a group to fill.
//!
//! A client that was just answered usually sends its next append at once, but later than the clients that
//! waited meanwhile. Without a wait the clients would split into two halves that take turns, each with its
//! own commit. So the first lane waits for as many appends as it has recently seen at once. With 8
//! connections on two cores this doubled the throughput and halved the latency (docs/benchmarks.md).

use std::time::Duration;
use tokio::time::Instant;

/// Longest wait: 1 ms. Tokio's timer has a resolution of 1 ms, so the wait may take 2 ms. It ends as soon
/// as all expected appends have arrived.
const WAIT: Duration = Duration::from_millis(1);
/// Most groups in a row for which the lane does not wait, after waits that timed out.
const PAUSE_MAX: u32 = 64;

/// How many appends are expected, and for how many groups the wait is suspended.
#[derive(Debug, Default)]
pub(super) struct GroupWait {
    items: usize,
    /// Groups left for which the lane does not wait.
    pause: u32,
    /// Groups for which the lane does not wait after the next timeout.
    next_pause: u32,
}

impl GroupWait {
    /// Until when a group with `items` appends waits for more; `None` if it does not wait.
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

    /// Records that all expected appends arrived.
    pub(super) fn record_complete(&mut self) {
        self.next_pause = 0;
    }

    /// Records that the wait timed out. The suspension doubles with each timeout in a row.
    pub(super) fn record_timeout(&mut self) {
        self.pause = self.next_pause;
        self.next_pause = (self.next_pause * 2).clamp(1, PAUSE_MAX);
    }

    /// Sets how many appends are expected at once.
    pub(super) fn record_size(&mut self, items: usize) {
        self.items = items;
    }
}
