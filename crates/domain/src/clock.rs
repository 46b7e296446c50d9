//! Time and randomness as parameters, so that tests can choose them.

use chrono::{DateTime, Utc};

pub use chrono::Months;

/// An instant in UTC. Stored with microsecond precision on both engines.
pub type Timestamp = DateTime<Utc>;

/// The source of the current time. Only the server has an implementation that reads a real clock.
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time (UTC).
    fn now(&self) -> Timestamp;
}

/// The source of random bytes. Only the server has an implementation that asks the operating system.
pub trait Entropy: Send + Sync + 'static {
    /// Fills `bytes` with unpredictable bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// Returns the microseconds since the Unix epoch: the stored form of an instant.
pub fn to_micros(at: Timestamp) -> i64 {
    at.timestamp_micros()
}

/// Returns the instant of a stored value. A value outside of chrono's range becomes the epoch; Shiftbook never
/// writes one.
pub fn from_micros(micros: i64) -> Timestamp {
    DateTime::from_timestamp_micros(micros).unwrap_or_default()
}

/// Truncates an instant to microseconds, the precision of the store, so that an acknowledged time equals the
/// time that is read back.
pub fn truncate(at: Timestamp) -> Timestamp {
    from_micros(to_micros(at))
}
