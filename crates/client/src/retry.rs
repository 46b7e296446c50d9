//! Opt-in retries: capped exponential backoff with jitter.

use crate::{Error, Result, limit};
use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder, Retryable as _};
use std::{future::Future, time::Duration};
use tokio::time::{Instant, sleep};

/// The pauses between attempts. The n-th pause is between half of `base · 2ⁿ` and all of it, at most `cap`.
#[derive(Debug)]
pub struct Backoff {
    builder: ExponentialBuilder,
    pauses: ExponentialBackoff,
    cap: Duration,
    tries: u32,
}

impl Backoff {
    /// A backoff with the default pauses. Clients with different seeds repeat at different times after a common
    /// failure; the same seed gives the same pauses.
    pub fn new(seed: u64) -> Self {
        let builder = ExponentialBuilder::new().with_jitter().with_jitter_seed(seed).without_max_times();
        Self { builder, pauses: builder.build(), cap: Duration::ZERO, tries: 0 }
            .between(limit::BACKOFF_BASE, limit::BACKOFF_CAP)
    }

    /// Sets the first pause and the longest one.
    #[must_use]
    pub fn between(self, base: Duration, cap: Duration) -> Self {
        // The jitter adds up to as much again.
        let builder = self.builder.with_min_delay(base / 2).with_max_delay(cap / 2);
        Self { builder, pauses: builder.build(), cap, tries: 0 }
    }

    /// Number of failed attempts since the last success.
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    /// Resets the backoff after a success.
    pub fn reset(&mut self) {
        self.pauses = self.builder.build();
        self.tries = 0;
    }

    /// Counts a failure and returns the pause, at least what the server asks for.
    pub fn pause(&mut self, error: &Error) -> Duration {
        self.pause_at_least(error.retry_after().unwrap_or_default())
    }

    /// Counts a failure and returns the pause, at least `least`.
    pub fn pause_at_least(&mut self, least: Duration) -> Duration {
        self.tries = self.tries.saturating_add(1);
        self.pauses.next().unwrap_or(self.cap).max(least)
    }
}

/// Repeats `call` while its error is retryable, until the next pause would end after `until`. See
/// [`Error::is_retryable`] for what may be repeated.
///
/// # Errors
/// The last error.
pub async fn retry<T, F, Fut>(backoff: Backoff, until: Instant, call: F) -> Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T>>,
{
    call.retry(backoff.builder)
        .sleep(sleep)
        .when(Error::is_retryable)
        .adjust(|error, pause| {
            let pause = pause?.max(error.retry_after().unwrap_or_default());
            (Instant::now() + pause <= until).then_some(pause)
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn away() -> Error {
        Error::Transport("away".into())
    }

    #[test]
    fn pauses_double_within_their_jitter_up_to_the_cap() {
        let mut backoff = Backoff::new(7).between(Duration::from_millis(100), Duration::from_secs(2));
        for whole in [100, 200, 400, 800, 1600, 2000, 2000] {
            let pause = backoff.pause(&away()).as_millis();
            assert!((whole / 2..=whole).contains(&pause), "{pause} of {whole}");
        }
        backoff.reset();
        assert!(backoff.pause(&away()).as_millis() <= 100);
        for _ in 0..200 {
            assert!(backoff.pause(&away()) <= Duration::from_secs(2));
        }
    }

    #[test]
    fn seeds_spread_clients_that_failed_together() {
        let pauses: std::collections::BTreeSet<_> = (0..50).map(|seed| Backoff::new(seed).pause(&away())).collect();
        assert!(pauses.len() > 40, "{} different pauses", pauses.len());
    }

    #[test]
    fn the_servers_own_wish_is_the_least_pause() {
        let wish = Duration::from_secs(3);
        let busy = Error::Protocol { status: Some(503), detail: String::new(), retry_after: Some(wish) };
        assert_eq!(Backoff::new(1).pause(&busy), wish);
    }

    #[tokio::test(start_paused = true)]
    async fn it_tries_again_until_it_works_or_time_is_up_and_never_after_a_refusal() {
        let calls = Cell::new(0);
        let in_an_hour = Instant::now() + Duration::from_secs(3600);
        let answer = retry(Backoff::new(1), in_an_hour, || async {
            calls.set(calls.get() + 1);
            if calls.get() < 6 { Err(away()) } else { Ok(calls.get()) }
        });
        assert_eq!(answer.await.unwrap(), 6);

        let until = Instant::now() + Duration::from_secs(30);
        let never: Result<()> = retry(Backoff::new(1), until, || async { Err(away()) }).await;
        assert!(never.is_err() && Instant::now() <= until);

        calls.set(0);
        let refused: Result<()> = retry(Backoff::new(1), in_an_hour, || async {
            calls.set(calls.get() + 1);
            Err(Error::protocol(Some(422), "no"))
        })
        .await;
        assert!(refused.is_err());
        assert_eq!(calls.get(), 1);
    }
}
