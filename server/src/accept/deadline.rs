//! The time limits of a connection.
//!
//! hyper has one timer for "no bytes yet", "half a header" and "idle between requests". A worker that
//! sends a heartbeat every ten seconds needs a longer limit between requests than within a header, so
//! this module distinguishes the three.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Time from the connection, or from the first byte of a request, to the end of the header.
const HEADER: Duration = Duration::from_secs(10);
/// Time between requests.
pub const IDLE: Duration = Duration::from_secs(75);
/// Time for which a client may not read a response that is ready.
const STALL: Duration = Duration::from_secs(30);

/// The connection's phase. The lock is never contended: one task polls the whole connection.
#[derive(Debug)]
pub struct Deadlines(Mutex<Phase>);

#[derive(Debug)]
struct Phase {
    /// Deadline for the next progress in reading. `None` while a request is being answered.
    read_by: Option<Instant>,
    /// Whether the next byte begins a header.
    between_requests: bool,
    /// Deadline for the next progress of a blocked write. `None` while no write is blocked.
    write_by: Option<Instant>,
}

impl Deadlines {
    /// Creates the state of a connection that was accepted at this time.
    pub fn new(now: Instant) -> Self {
        let phase = Phase { read_by: Some(now + HEADER), between_requests: false, write_by: None };
        Self(Mutex::new(phase))
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time at which the connection is closed if nothing changes.
    pub fn next(&self) -> Option<Instant> {
        let phase = self.phase();
        phase.read_by.into_iter().chain(phase.write_by).min()
    }

    /// Records that bytes arrived.
    pub fn read(&self, now: Instant) {
        let mut phase = self.phase();
        if phase.between_requests {
            phase.between_requests = false;
            phase.read_by = Some(now + HEADER);
        }
    }

    /// Records that a whole header arrived. Bodies and handlers have their own time limits.
    pub fn request(&self) {
        let mut phase = self.phase();
        phase.between_requests = false;
        phase.read_by = None;
    }

    /// Records that the response is complete.
    pub fn answered(&self, now: Instant) {
        let mut phase = self.phase();
        phase.between_requests = true;
        phase.read_by = Some(now + IDLE);
    }

    /// Records that a write is blocked, because the client does not read.
    pub fn blocked(&self, now: Instant) {
        self.phase().write_by.get_or_insert(now + STALL);
    }

    /// Records that the client read bytes.
    pub fn written(&self) {
        self.phase().write_by = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_has_its_own_deadline() {
        let start = Instant::now();
        let later = start + Duration::from_secs(3);
        let deadlines = Deadlines::new(start);
        deadlines.read(later);
        assert_eq!(deadlines.next(), Some(start + HEADER), "bytes of a slow first header win no time");
        deadlines.request();
        assert_eq!(deadlines.next(), None);
        deadlines.blocked(start);
        deadlines.blocked(later);
        assert_eq!(deadlines.next(), Some(start + STALL), "a blocked write is measured from when it blocked");
        deadlines.written();
        deadlines.answered(start);
        assert_eq!(deadlines.next(), Some(start + IDLE));
        deadlines.read(later);
        assert_eq!(deadlines.next(), Some(later + HEADER), "the next request's header is on the clock again");
    }
}
