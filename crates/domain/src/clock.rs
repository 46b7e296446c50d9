//! Time and randomness as parameters, so that every rule can be tested at a chosen instant.

use chrono::{DateTime, Utc};

pub use chrono::Months;

/// An instant in UTC. Stored with microsecond precision on both engines.
pub type Timestamp = DateTime<Utc>;

/// Where "now" comes from. The server has the only implementation that reads a real clock.
pub trait Clock: Send + Sync + 'static {
    /// The current instant.
    fn now(&self) -> Timestamp;
}

/// Where random bytes come from. The server has the only implementation that asks the system.
pub trait Entropy: Send + Sync + 'static {
    /// Fills `bytes` with unpredictable bytes.
    fn fill(&self, bytes: &mut [u8]);
}

/// Microseconds since the Unix epoch: the stored form of an instant.
pub fn to_micros(at: Timestamp) -> i64 {
    at.timestamp_micros()
}

/// The instant of a stored value. Values outside chrono's range (never written by us) become the epoch.
pub fn from_micros(micros: i64) -> Timestamp {
    DateTime::from_timestamp_micros(micros).unwrap_or_default()
}

/// Drops what the store cannot hold, so that what is acknowledged equals what is read back.
pub fn truncate(at: Timestamp) -> Timestamp {
    from_micros(to_micros(at))
}
