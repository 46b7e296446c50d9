//! The only code that reads the clock, the system's random source and the environment. Other code
//! gets them as parameters.

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

/// The wall clock at the start of the process plus the time that has passed since. It never jumps.
#[derive(Debug, Clone, Copy)]
pub struct SteadyClock {
    started: Timestamp,
    since: Instant,
}

impl SteadyClock {
    /// Starts at the current wall-clock time.
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
    /// Fills the buffer with random bytes. If the system gives none, the process ends, because ids
    /// and secrets that can be guessed are worse than a server that does not run.
    #[expect(clippy::disallowed_methods, reason = "the one source of randomness")]
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(error) = getrandom::fill(bytes) {
            tracing::error!(%error, "the operating system gives no random bytes");
            std::process::abort();
        }
    }
}

/// Returns whether the program exists. A misspelt name is found at the start, instead of failing
/// every session of a queue.
pub fn is_program(name: &OsStr) -> bool {
    if name.as_encoded_bytes().contains(&b'/') {
        return Path::new(name).is_file();
    }
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// Returns an environment variable. `None` if it is not set or is not valid Unicode.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
