//! The lease on one session: heartbeats, retries while it is held, and how it is lost.

use super::{limit, worker_api::WorkerApi};
use client::{Backoff, Error};
use domain::id::SessionId;
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
pub enum LeaseLoss {
    /// Another attempt holds it.
    Taken,
    /// The session has ended: it was cancelled, or the agent ended it through the API.
    Ended,
    /// The session waits: the agent yielded it through the API.
    Yielded,
    /// No heartbeat succeeded for the length of the lease.
    Expired,
    /// The server refuses this worker; the text is its reason.
    Refused(String),
    /// The lease is held, but the log refuses the agent's events; the text is the reason.
    Unwritable(String),
}

impl LeaseLoss {
    /// The loss that an error reports; `None` for errors that are not about the lease.
    pub fn of(error: &Error) -> Option<Self> {
        match error.code()? {
            Code::StaleAttempt => Some(Self::Taken),
            Code::AlreadyFinal => Some(Self::Ended),
            Code::WrongStatus => Some(Self::Yielded),
            Code::NotFound | Code::Unauthenticated | Code::Forbidden => Some(Self::Refused(error.to_string())),
            _ => None,
        }
    }
}

impl fmt::Display for LeaseLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => f.write_str("another attempt holds it"),
            Self::Ended => f.write_str("it has ended"),
            Self::Yielded => f.write_str("it was yielded"),
            Self::Expired => f.write_str("its lease ran out before a heartbeat got through"),
            Self::Refused(why) | Self::Unwritable(why) => f.write_str(why),
        }
    }
}

/// A held lease. It is shared by everything that works on the session; only the first loss is kept.
#[derive(Debug)]
pub struct Lease {
    /// The API that granted the lease.
    pub api: Arc<dyn WorkerApi>,
    /// The leased session.
    pub session_id: SessionId,
    /// The attempt: the fencing token that every call carries.
    pub attempt: u32,
    length: Duration,
    /// Time between heartbeats.
    heartbeat_interval: Duration,
    until: watch::Sender<Instant>,
    loss: OnceLock<LeaseLoss>,
    lost: CancellationToken,
}

impl Lease {
    /// A lease that was requested at `now`: it has expired at `now + length` at the latest.
    pub fn new(api: Arc<dyn WorkerApi>, session_id: SessionId, attempt: u32, length: Duration, now: Instant) -> Self {
        Self {
            api,
            session_id,
            attempt,
            length,
            heartbeat_interval: length / 3,
            until: watch::Sender::new(now + length),
            loss: OnceLock::new(),
            lost: CancellationToken::new(),
        }
    }

    /// Shortens the interval between heartbeats to at most `most`. A heartbeat is how a worker learns that its session
    /// was interrupted.
    #[must_use]
    pub fn with_heartbeat_interval(self, most: Duration) -> Self {
        Self { heartbeat_interval: self.heartbeat_interval.min(most), ..self }
    }

    /// Longest wait within one call that ends well before the lease does.
    pub fn wait_max(&self) -> Duration {
        self.length / 4
    }

    /// A seed that differs between sessions and attempts.
    pub fn seed(&self) -> u64 {
        let bytes = self.session_id.0.as_bytes().iter();
        bytes.fold(u64::from(self.attempt), |seed, byte| seed.rotate_left(5) ^ u64::from(*byte))
    }

    /// A backoff with this lease's seed, so that sessions retry at different times after a common failure.
    pub fn backoff(&self) -> Backoff {
        Backoff::new(self.seed())
    }

    /// Marks the lease as lost. Only the first call has an effect.
    pub fn lose(&self, loss: LeaseLoss) {
        // `set` fails for a second loss, which is ignored.
        let _ = self.loss.set(loss);
        self.lost.cancel();
    }

    /// Why the lease was lost; `None` while it is held.
    pub fn loss(&self) -> Option<&LeaseLoss> {
        self.loss.get()
    }

    /// When the lease runs out, as of its last renewal. A later value than before shows that a heartbeat succeeded.
    pub fn until(&self) -> Instant {
        *self.until.borrow()
    }

    /// Waits until the lease is lost.
    pub async fn lost(&self) {
        self.lost.cancelled().await;
    }

    /// Sends heartbeats, at least three per lease, until the lease is lost.
    pub async fn send_heartbeats(&self) {
        loop {
            select! {
                () = self.lost() => return,
                () = sleep(self.heartbeat_interval) => {}
            }
            let (base, cap) = limit::HEARTBEAT_PAUSE;
            let heartbeat_interval = self.retry_while_held(self.backoff().between(base, cap), |left| {
                self.api.heartbeat(self.session_id, self.attempt, left.min(limit::HEARTBEAT_TIMEOUT))
            });
            match heartbeat_interval.await {
                Ok(_) => drop(self.until.send_replace(Instant::now() + self.length)),
                Err(error) if is_transient(&error) => return self.lose(LeaseLoss::Expired),
                Err(error) => {
                    return self.lose(LeaseLoss::of(&error).unwrap_or_else(|| LeaseLoss::Refused(error.to_string())));
                }
            }
        }
    }

    /// Repeats a call while its error is transient and the lease has not expired. `call` gets the time that is left.
    /// Returns the last error, and a transient one only at the end of the lease: returning earlier would report an
    /// expired lease during a mere pause.
    ///
    /// # Errors
    /// The first error that is not transient, or the last one before the lease expired.
    pub async fn retry_while_held<T, F, Fut>(&self, mut backoff: Backoff, mut call: F) -> client::Result<T>
    where
        F: FnMut(Duration) -> Fut,
        Fut: Future<Output = client::Result<T>>,
    {
        let until = self.until();
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
            if !is_transient(&error) || Instant::now() + pause >= until {
                if is_transient(&error) {
                    sleep_until(until).await;
                }
                return Err(error);
            }
            sleep(pause).await;
        }
    }
}

/// Whether the same call can succeed later: no connection, a timeout, an overloaded server, or a 5xx answer.
pub fn is_transient(error: &Error) -> bool {
    error.is_retryable() || error.status().is_some_and(|status| status >= 500)
}
