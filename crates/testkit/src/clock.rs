//! Time and randomness under the test's control.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{Clock, Entropy, Timestamp};
use std::sync::{Arc, Mutex};

/// A clock that moves when the test says so.
#[derive(Clone)]
pub struct TestClock(Arc<Mutex<Timestamp>>);

impl Default for TestClock {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(DateTime::<Utc>::from_timestamp(1_800_000_000, 0).unwrap())))
    }
}

impl TestClock {
    /// A clock at this instant.
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(now)))
    }

    /// Moves the clock forward, or back by a negative amount.
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
    /// Equal seeds give equal bytes.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(fastrand::Rng::with_seed(seed)))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.lock().unwrap().fill(bytes);
    }
}
