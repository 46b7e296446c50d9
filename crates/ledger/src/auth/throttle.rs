//! Limits password guessing: an attempt for an address is counted before the password is checked.

use crate::{
    Ledger,
    error::{Error, Result},
};
use chrono::TimeDelta;
use domain::{
    Timestamp,
    limit::{SIGN_IN_BLOCK_SECONDS_MAX, SIGN_IN_FAILURES_KEPT_MINUTES, SIGN_IN_FREE_FAILURES},
};
use sha2::{Digest as _, Sha256};
use store::{Access, SignInAttempts};

/// The digest under which attempts for an address are stored.
pub(super) fn email_digest(email: &str) -> [u8; 32] {
    Sha256::digest(email.as_bytes()).into()
}

/// Counts one more failure for the address, or refuses if the address is blocked. The caller clears the count
/// after a success.
///
/// One transaction reads, checks and writes the count. Therefore parallel guesses cannot exceed the limit.
///
/// # Errors
/// [`Error::TooManyAttempts`] while the address is blocked.
pub(super) async fn reserve(ledger: &Ledger, email_digest: [u8; 32]) -> Result<()> {
    let now = ledger.now();
    // This read refuses most blocked attempts without a write.
    let known = ledger
        .store()
        .read(Access::System, async move |conn| store::sign_in_attempts(conn, email_digest).await)
        .await?;
    if let Some(known) = known {
        check_attempt(known, now)?;
    }
    ledger
        .write(Access::System, async move |tx| {
            let attempts = store::lock_sign_in_attempts(tx, email_digest, now).await?;
            store::record_sign_in_attempt(tx, email_digest, check_attempt(attempts, now)?).await?;
            Ok(store::prune_sign_in_attempts(tx, now - retention()).await?)
        })
        .await
}

fn retention() -> TimeDelta {
    TimeDelta::minutes(SIGN_IN_FAILURES_KEPT_MINUTES)
}

/// Returns the attempts with one more failure.
///
/// # Errors
/// [`Error::TooManyAttempts`] while the address is blocked.
fn check_attempt(attempts: SignInAttempts, now: Timestamp) -> Result<SignInAttempts> {
    if attempts.blocked_until > now {
        let seconds = seconds_up(attempts.blocked_until - now);
        return Err(Error::TooManyAttempts { retry_after_seconds: seconds });
    }
    let earlier = if now - attempts.blocked_until > retention() { 0 } else { attempts.failures };
    let failures = earlier.saturating_add(1);
    Ok(SignInAttempts { failures, blocked_until: now + delay_after(failures) })
}

/// A block of sign-ins to an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Number of wrong passwords in a row that led to it.
    pub(super) attempts: u64,
    /// Seconds until it ends, at least 1.
    pub(super) seconds: u64,
}

/// The block that these attempts have led to, while it lasts.
pub(super) fn block_of(attempts: SignInAttempts, now: Timestamp) -> Option<Block> {
    let SignInAttempts { failures, blocked_until } = attempts;
    (blocked_until > now).then(|| Block { attempts: failures, seconds: seconds_up(blocked_until - now) })
}

/// Returns the wait in whole seconds, at least 1. Rounded up, so that a caller who waits for it is not refused
/// again.
fn seconds_up(wait: TimeDelta) -> u64 {
    let millis = wait.num_milliseconds().max(0).cast_unsigned();
    millis.div_ceil(1_000).max(1)
}

/// Returns how long an address is blocked after this many failures in a row.
fn delay_after(failures: u64) -> TimeDelta {
    let over = failures.saturating_sub(SIGN_IN_FREE_FAILURES).min(9);
    let seconds = if over == 0 { 0 } else { (1_i64 << over).min(SIGN_IN_BLOCK_SECONDS_MAX) };
    TimeDelta::seconds(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    #[test]
    fn the_first_failures_cost_nothing_and_later_ones_ever_more_up_to_a_bound() {
        assert_eq!(delay_after(5), TimeDelta::zero());
        assert_eq!(delay_after(6), TimeDelta::seconds(2));
        assert_eq!(delay_after(9), TimeDelta::seconds(16));
        assert_eq!(delay_after(10_000), TimeDelta::seconds(SIGN_IN_BLOCK_SECONDS_MAX));
    }

    #[test]
    fn a_refused_attempt_changes_nothing_and_says_how_long_to_wait() {
        let blocked = SignInAttempts { failures: 9, blocked_until: at(10) };
        let refused = check_attempt(blocked, at(10) - TimeDelta::milliseconds(1_001)).unwrap_err();
        assert!(matches!(refused, Error::TooManyAttempts { retry_after_seconds: 2 }), "{refused}");
        let next = check_attempt(blocked, at(10)).unwrap();
        assert_eq!(next, SignInAttempts { failures: 10, blocked_until: at(10 + 32) });
    }

    #[test]
    fn waiting_until_failures_are_forgotten_allows_fewer_attempts_than_going_on() {
        let forgotten =
            check_attempt(SignInAttempts { failures: 50, blocked_until: at(0) }, at(0) + retention() * 2).unwrap();
        assert_eq!(forgotten.failures, 1);
        let going_on = SIGN_IN_FAILURES_KEPT_MINUTES * 60 / SIGN_IN_BLOCK_SECONDS_MAX;
        assert!(going_on.cast_unsigned() > SIGN_IN_FREE_FAILURES + 1);
    }
}
