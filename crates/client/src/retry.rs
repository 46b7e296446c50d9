//! Opt-in retries: capped exponential backoff with jitter.

use crate::{Error, Result, limit};
use std::{future::Future, time::Duration};
use tokio::time::{Instant, sleep};

/// The pauses between attempts. The n-th pause is between half of `base · 2ⁿ` and all of it, at most `cap`.
#[derive(Debug, Clone)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    seed: u64,
    tries: u32,
}

impl Backoff {
    /// A backoff with the default pauses. Clients with different seeds repeat at different times after a common
    /// failure; the same seed gives the same pauses.
    pub const fn new(seed: u64) -> Self {
        Self { base: limit::BACKOFF_BASE, cap: limit::BACKOFF_CAP, seed, tries: 0 }
    }

    /// Sets the first pause and the longest one.
    #[must_use]
    pub const fn between(self, base: Duration, cap: Duration) -> Self {
        Self { base, cap, ..self }
    }

    /// Number of failed attempts since the last success.
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    /// Resets the backoff after a success.
    pub const fn reset(&mut self) {
        self.tries = 0;
    }

    /// Counts a failure and returns the pause, at least what the server asks for.
    pub fn pause(&mut self, error: &Error) -> Duration {
        self.pause_at_least(error.retry_after().unwrap_or_default())
    }

    /// Counts a failure and returns the pause, at least `least`.
    pub fn pause_at_least(&mut self, least: Duration) -> Duration {
        let whole = self.base.saturating_mul(1_u32.checked_shl(self.tries.min(16)).unwrap_or(u32::MAX)).min(self.cap);
        let jitter = mix(self.seed ^ u64::from(self.tries).wrapping_mul(0x9E37_79B9_7F4A_7C15)) % 1_001;
        self.tries = self.tries.saturating_add(1);
        let pause = whole / 2 + (whole / 2).mul_f64(jitter as f64 / 1_000.0);
        pause.max(least)
    }
}

/// The finaliser of SplitMix64: good enough for jitter, not for secrets.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Repeats `call` while its error is retryable, until the next pause would end after `until`. See
/// [`Error::is_retryable`] for what may be repeated.
///
/// # Errors
/// The last error.
pub async fn retry<T, F, Fut>(mut backoff: Backoff, until: Instant, mut call: F) -> Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T>>,
{
    loop {
        let error = match call().await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let pause = backoff.pause(&error);
        if !error.is_retryable() || Instant::now() + pause > until {
            return Err(error);
        }
        sleep(pause).await;
    }
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
