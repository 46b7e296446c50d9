//! The only place that reads the clock and the system's randomness. Everything else is handed them.

use domain::{Clock, Entropy, Timestamp};

/// The system's wall clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one reader of the wall clock")]
    fn now(&self) -> Timestamp {
        Timestamp::from(std::time::SystemTime::now())
    }
}

/// The operating system's random bytes.
#[derive(Debug, Clone, Copy)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    /// Ids and secrets made without randomness would be worse than no server: a system that cannot
    /// give random bytes ends the process.
    #[expect(clippy::disallowed_methods, reason = "the one source of randomness")]
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(error) = getrandom::fill(bytes) {
            tracing::error!(%error, "the operating system gives no random bytes");
            std::process::abort();
        }
    }
}
