//! The only place that reads the clock, the system's randomness and the environment. Everything else is handed them.

use domain::{Clock, Entropy, Timestamp};
use std::{ffi::OsStr, path::Path, time::Instant};

/// The system's wall clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one reader of the wall clock")]
    fn now(&self) -> Timestamp {
        Timestamp::from(std::time::SystemTime::now())
    }
}

/// The wall clock as it was when the process started, and the time that has passed since: it never jumps.
#[derive(Debug, Clone, Copy)]
pub struct SteadyClock {
    started: Timestamp,
    since: Instant,
}

impl SteadyClock {
    /// Right now, and at the pace of time from here on.
    pub fn start() -> Self {
        Self { started: SystemClock.now(), since: Instant::now() }
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        self.started + self.since.elapsed()
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

/// Whether there is such a program, so that a typing error does not fail every session of a queue.
pub fn is_program(name: &OsStr) -> bool {
    if name.as_encoded_bytes().contains(&b'/') {
        return Path::new(name).is_file();
    }
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// A value of the environment, where it is text.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
