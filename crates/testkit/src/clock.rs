//! A clock and a source of random bytes that the test controls.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{Clock, Entropy, Timestamp};
use std::sync::{Arc, Mutex};

/// A clock that only the test moves.
#[derive(Clone)]
pub struct TestClock(Arc<Mutex<Timestamp>>);

impl Default for TestClock {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(DateTime::<Utc>::from_timestamp(1_800_000_000, 0).unwrap())))
    }
}

impl TestClock {
    /// Creates a clock that shows this time.
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(now)))
    }

    /// Moves the clock forward, or back if the amount is negative.
    pub fn advance(&self, by: TimeDelta) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// Reproducible random bytes.
pub struct SeededEntropy(Mutex<fastrand::Rng>);

impl SeededEntropy {
    /// Creates a source. Equal seeds give equal bytes.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(fastrand::Rng::with_seed(seed)))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.lock().unwrap().fill(bytes);
    }
}
