//! The clients: seeded choices, closed loops, every outcome recorded.

mod body;
mod dispatcher;
mod reader;
mod streamer;
mod worker;
mod writer;

pub use body::Batch;
pub use dispatcher::{Board, dispatch, watch};
pub use reader::read;
pub use streamer::stream;
pub use worker::{Habits, work};
pub use writer::{Holding, write};

use crate::{
    client::{Api, Connection},
    history::{Outcome, Recorder},
};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::watch::Receiver,
    time::{Instant, sleep},
};

/// Shortest and longest wait before a request of unknown outcome is sent again, ms.
const RETRY_MS: std::ops::Range<u64> = 5..60;

/// How far a round has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Clients make load.
    Load,
    /// No new work; what is pending is finished before the instant. The faults are over.
    Drain(Instant),
}

/// Everything the clients of a round share.
#[derive(Clone)]
pub struct Field {
    /// The round's seed; each client derives its own.
    pub seed: u64,
    /// The server itself.
    pub direct: SocketAddr,
    /// The server behind the proxy that cuts connections.
    pub proxied: SocketAddr,
    /// API token.
    pub token: String,
    /// The history.
    pub recorder: Arc<Recorder>,
    /// Load or drain.
    pub phase: Receiver<Phase>,
    /// What never got an answer although the faults were over.
    pub stuck: Arc<Stuck>,
}

/// Requests that stayed unanswered after the faults were over.
#[derive(Debug, Default)]
pub struct Stuck(Mutex<Vec<String>>);

impl Stuck {
    /// Notes one; a few are enough.
    pub fn note(&self, what: String) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if list.len() < 10 {
            list.push(what);
        }
    }

    /// All noted.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Field {
    /// A client. Odd ones go through the proxy.
    pub fn api(&self, process: u32) -> Api {
        let target = if process % 2 == 1 { self.proxied } else { self.direct };
        Api::new(process, Connection::new(target, self.token.clone()), self.recorder.clone())
    }

    /// The choices of one client.
    pub fn rng(&self, process: u32) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.seed ^ (u64::from(process) << 40))
    }

    /// Whether clients may begin new work.
    pub fn is_loading(&self) -> bool {
        *self.phase.borrow() == Phase::Load && !self.recorder.is_full()
    }

    /// Whether even pending work must stop.
    pub fn is_over(&self) -> bool {
        matches!(*self.phase.borrow(), Phase::Drain(deadline) if Instant::now() > deadline)
    }

    /// Sleeps, but not into the drain.
    pub async fn rest(&self, pause: Duration) {
        let mut phase = self.phase.clone();
        let drained = async move { phase.wait_for(|phase| *phase != Phase::Load).await.map(drop) };
        tokio::select! {
            () = sleep(pause) => {}
            _ = drained => {}
        }
    }

    /// Waits a little before the next try of a request; false when the round is over.
    pub async fn may_retry(&self, rng: &mut fastrand::Rng, what: &str, last: &Outcome) -> bool {
        if self.is_over() {
            self.stuck.note(format!("{what} was never answered; last: {last:?}"));
            return false;
        }
        sleep(Duration::from_millis(rng.u64(RETRY_MS))).await;
        true
    }
}

/// Whether a refusal means "not now" rather than "no".
pub fn is_transient(code: &str) -> bool {
    matches!(code, "not_sent" | "too_many_requests")
}
