//! The clients: seeded choices, closed loops, every outcome recorded.

mod body;
mod contradictor;
mod dispatcher;
mod reader;
mod streamer;
mod worker;
mod writer;

pub use body::Batch;
pub use contradictor::contradict;
pub use dispatcher::{WorkerSessions, dispatch, watch};
pub use reader::read;
pub use streamer::stream;
pub use worker::{WorkerBehavior, work};
pub use writer::{HeldSession, write};

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

/// Phase of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Clients start new operations.
    Load,
    /// Clients only finish pending operations, until this instant. The faults are over.
    Drain(Instant),
}

/// What the clients of a round share.
#[derive(Clone)]
pub struct RoundContext {
    /// The round's seed; each client derives its own.
    pub seed: u64,
    /// The server itself.
    pub direct: SocketAddr,
    /// The server behind the proxy that cuts connections.
    pub proxied: SocketAddr,
    /// API token.
    pub token: String,
    /// Records the history.
    pub recorder: Arc<Recorder>,
    /// Load or drain.
    pub phase: Receiver<Phase>,
    /// Requests without an answer although the faults were over.
    pub stuck: Arc<Stuck>,
}

/// Requests that stayed unanswered after the faults were over.
#[derive(Debug, Default)]
pub struct Stuck(Mutex<Vec<String>>);

impl Stuck {
    /// Keeps a description; only the first few are kept.
    pub fn note(&self, what: String) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if list.len() < 10 {
            list.push(what);
        }
    }

    /// Returns the notes.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RoundContext {
    /// A client. Clients with odd numbers go through the proxy.
    pub fn api(&self, process: u32) -> Api {
        let target = if process % 2 == 1 { self.proxied } else { self.direct };
        Api::new(process, Connection::new(target, self.token.clone()), self.recorder.clone())
    }

    /// The random choices of one client, from the round's seed.
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

    /// Sleeps until the time is over or the drain begins.
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

/// Whether a refusal is temporary.
pub fn is_transient(code: &str) -> bool {
    matches!(code, "not_sent" | "too_many_requests")
}
