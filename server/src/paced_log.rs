//! Logs a refusal that strangers can cause as often as they like: one line in a while, with the number of refusals.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Least time between two lines.
const EVERY: Duration = Duration::from_secs(10);

/// The refusals of one kind.
#[derive(Default)]
pub struct PacedLog(Mutex<Paced>);

#[derive(Default)]
struct Paced {
    last: Option<Instant>,
    /// Refusals since the last line.
    unreported: u64,
}

impl PacedLog {
    /// Counts a refusal, and warns of it and of those before it if the last warning is old enough.
    pub fn warn(&self, what: &'static str) {
        if let Some(refused) = self.count(Instant::now()) {
            tracing::warn!(refused, "{what}");
        }
    }

    /// Counts one refusal. Returns the number of those that no line has named, if it is time for a line.
    fn count(&self, now: Instant) -> Option<u64> {
        let mut paced = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paced.unreported += 1;
        if paced.last.is_some_and(|last| now - last < EVERY) {
            return None;
        }
        paced.last = Some(now);
        Some(std::mem::take(&mut paced.unreported))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_all_refusals_since_the_last_one() {
        let (log, start) = (PacedLog::default(), Instant::now());
        assert_eq!(log.count(start), Some(1));
        for n in 0..40 {
            assert_eq!(log.count(start + Duration::from_millis(n)), None);
        }
        assert_eq!(log.count(start + EVERY), Some(41));
        assert_eq!(log.count(start + EVERY), None);
    }
}
