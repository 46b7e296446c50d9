//! The right to work on one session, and how it ends.

use super::{desk::Desk, limit};
use client::{Backoff, Error};
use std::{
    fmt,
    future::Future,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;
use wire::Code;

/// Why this worker must stop working on a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// Another attempt holds it.
    Taken,
    /// It has ended: cancelled, or finished by the agent itself.
    Ended,
    /// It waits for something: its agent yielded it.
    Parked,
    /// No heartbeat got through for the length of the lease.
    Expired,
    /// The server takes nothing from this worker any more.
    Refused(String),
    /// The lease is held, and the log does not take what the agent says.
    Unwritable(String),
}

impl Loss {
    /// What an error says about the lease; `None` where it says nothing.
    pub fn of(error: &Error) -> Option<Self> {
        match error.code()? {
            Code::StaleAttempt => Some(Self::Taken),
            Code::AlreadyFinal => Some(Self::Ended),
            Code::WrongStatus => Some(Self::Parked),
            Code::NotFound | Code::Unauthenticated | Code::Forbidden => Some(Self::Refused(error.to_string())),
            _ => None,
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => f.write_str("another attempt holds it"),
            Self::Ended => f.write_str("it has ended"),
            Self::Parked => f.write_str("it was yielded"),
            Self::Expired => f.write_str("its lease ran out before a heartbeat got through"),
            Self::Refused(why) | Self::Unwritable(why) => f.write_str(why),
        }
    }
}

/// One held attempt. Shared by everything that works for the session; the first loss is the one that counts.
#[derive(Debug)]
pub struct Lease {
    /// How to reach the server.
    pub desk: Arc<dyn Desk>,
    /// The session.
    pub session_id: String,
    /// The fencing token.
    pub attempt: u32,
    length: Duration,
    /// Between heartbeats.
    beat: Duration,
    until: watch::Sender<Instant>,
    loss: OnceLock<Loss>,
    lost: CancellationToken,
}

impl Lease {
    /// A lease that was granted before `now`: from `now + length` on it is surely over.
    pub fn new(desk: Arc<dyn Desk>, session_id: String, attempt: u32, length: Duration, now: Instant) -> Self {
        Self {
            desk,
            session_id,
            attempt,
            length,
            beat: length / 3,
            until: watch::Sender::new(now + length),
            loss: OnceLock::new(),
            lost: CancellationToken::new(),
        }
    }

    /// With heartbeats at least this often: where a person waits to be let in again, a loss is to be heard of soon.
    #[must_use]
    pub fn beating_every(self, most: Duration) -> Self {
        Self { beat: self.beat.min(most), ..self }
    }

    /// Tells sessions apart whose calls fail together.
    pub fn seed(&self) -> u64 {
        self.session_id.bytes().fold(u64::from(self.attempt), |seed, b| seed.rotate_left(5) ^ u64::from(b))
    }

    /// Spreads the retries of sessions that fail together.
    pub fn backoff(&self) -> Backoff {
        Backoff::new(self.seed())
    }

    /// Ends it.
    pub fn lose(&self, loss: Loss) {
        // A second loss tells nothing new.
        let _ = self.loss.set(loss);
        self.lost.cancel();
    }

    /// Why it ended, if it did.
    pub fn loss(&self) -> Option<&Loss> {
        self.loss.get()
    }

    /// Waits until it ends.
    pub async fn lost(&self) {
        self.lost.cancelled().await;
    }

    /// Sends heartbeats, three or more in the length of a lease, until the lease ends.
    pub async fn keep(&self) {
        loop {
            select! {
                () = self.lost() => return,
                () = sleep(self.beat) => {}
            }
            let (base, cap) = limit::HEARTBEAT_PAUSE;
            let beat = self.insist(self.backoff().between(base, cap), |left| {
                self.desk.heartbeat(&self.session_id, self.attempt, left.min(limit::HEARTBEAT_TIMEOUT))
            });
            match beat.await {
                Ok(_) => drop(self.until.send_replace(Instant::now() + self.length)),
                Err(error) if may_pass(&error) => return self.lose(Loss::Expired),
                Err(error) => return self.lose(Loss::of(&error).unwrap_or_else(|| Loss::Refused(error.to_string()))),
            }
        }
    }

    /// Makes a call until it is answered, refused, or the lease is surely over. A server in trouble (500) is
    /// given the same patience as one that is away.
    pub async fn insist<T, F, Fut>(&self, mut backoff: Backoff, mut call: F) -> client::Result<T>
    where
        F: FnMut(Duration) -> Fut,
        Fut: Future<Output = client::Result<T>>,
    {
        let until = *self.until.borrow();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let answer = select! {
                answer = call(left) => answer,
                () = sleep_until(until) => Err(Error::Timeout(left)),
            };
            let error = match answer {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let pause = backoff.pause(&error);
            if !may_pass(&error) || Instant::now() + pause >= until {
                // Whoever gives up early would call an expired lease what is only a pause that is too long.
                if may_pass(&error) {
                    sleep_until(until).await;
                }
                return Err(error);
            }
            sleep(pause).await;
        }
    }
}

/// Whether the same call may work later.
pub fn may_pass(error: &Error) -> bool {
    error.is_retryable() || error.status().is_some_and(|status| status >= 500)
}
