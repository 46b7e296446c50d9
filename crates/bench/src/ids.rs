//! The machine's clock, and ids made from it.

use rustix::time::{ClockId, clock_gettime};
use uuid::{Builder, Uuid};

/// Seconds and nanoseconds since the Unix epoch.
fn realtime() -> (i64, i64) {
    let now = clock_gettime(ClockId::Realtime);
    (now.tv_sec, now.tv_nsec)
}

/// Microseconds since the Unix epoch, as the product stores times.
pub fn now_micros() -> i64 {
    let (seconds, nanos) = realtime();
    seconds * 1_000_000 + nanos / 1_000
}

/// Today, for the report.
pub fn today() -> String {
    let at = chrono::DateTime::from_timestamp(realtime().0, 0).unwrap_or_default();
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// The day that is so many days after today (UTC), as forms have it: `2026-11-30`.
pub fn day_after(days: i64) -> String {
    let at = chrono::DateTime::from_timestamp(realtime().0, 0).unwrap_or_default() + chrono::TimeDelta::days(days);
    at.format("%Y-%m-%d").to_string()
}

/// Makes UUIDv7s.
#[derive(Debug, Clone)]
pub struct Ids(fastrand::Rng);

impl Ids {
    /// A source of ids with a random seed.
    pub fn new() -> Self {
        Self(fastrand::Rng::new())
    }

    /// An id with the current time.
    pub fn next(&mut self) -> Uuid {
        self.at(now_micros())
    }

    /// An id with the time `micros`, microseconds since the Unix epoch.
    pub fn at(&mut self, micros: i64) -> Uuid {
        let mut random = [0; 10];
        self.0.fill(&mut random);
        let millis = u64::try_from(micros / 1_000).unwrap_or_default();
        Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }
}
