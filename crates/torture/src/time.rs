//! One clock for every process of a run.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the system's monotonic clock. Unlike `Instant` it means the same in every process of
/// this machine, so the histories of worker processes can be merged with ours.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or_default())
}

/// Nanoseconds in a millisecond.
pub const MILLISECOND: u64 = 1_000_000;
