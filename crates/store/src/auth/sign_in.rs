//! Rows of `sign_in_attempts`.

use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
};

macro_rules! prune {
    ($lock:literal) => {
        concat!(
            "DELETE FROM sign_in_attempts WHERE email_digest IN (SELECT email_digest FROM sign_in_attempts \
             WHERE blocked_until < $1 ORDER BY blocked_until LIMIT $2",
            $lock,
            ")"
        )
    };
}

statements! {
    const BY_EMAIL: &str = "SELECT failures, blocked_until FROM sign_in_attempts WHERE email_digest = $1";
    // One statement makes and locks the row: between two, a success of the same address could delete it.
    const LOCK: &str = "INSERT INTO sign_in_attempts (email_digest, failures, blocked_until) VALUES ($1, 0, $2) \
         ON CONFLICT (email_digest) DO UPDATE SET failures = sign_in_attempts.failures RETURNING failures, blocked_until";
    const RECORD: &str = "UPDATE sign_in_attempts SET failures = $2, blocked_until = $3 WHERE email_digest = $1";
    const CLEAR: &str = "DELETE FROM sign_in_attempts WHERE email_digest = $1";
    const PRUNE: &str = prune!("");
    // Servers that prune at the same time take different rows.
    const PRUNE_POSTGRES: &str = prune!(" FOR UPDATE SKIP LOCKED");
}

/// Rows deleted by one call of [`prune_sign_in_attempts`]. Each attempt adds one row at most.
const PRUNED_AT_ONCE: i64 = 100;

/// Recent sign-in attempts for one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInAttempts {
    /// Number of consecutive attempts that have not succeeded.
    pub failures: u64,
    /// No attempt is allowed before this time (UTC). It is never before the last attempt.
    pub blocked_until: Timestamp,
}

fn attempts((failures, until): (i64, i64)) -> SignInAttempts {
    SignInAttempts { failures: failures.cast_unsigned(), blocked_until: from_micros(until) }
}

/// The attempts for an address, by its digest; `None` if there are none.
pub async fn sign_in_attempts(conn: &mut Conn<'_>, email_digest: [u8; 32]) -> Result<Option<SignInAttempts>> {
    Ok(run!(conn, fetch_optional(i64, i64), BY_EMAIL, &email_digest[..])?.map(attempts))
}

/// The attempts for an address, locked until the transaction ends. The row is created if there is none.
pub async fn lock_sign_in_attempts(
    tx: &mut WriteTx<'_>,
    email_digest: [u8; 32],
    now: Timestamp,
) -> Result<SignInAttempts> {
    Ok(attempts(run!(tx.conn(), fetch_one(i64, i64), LOCK, &email_digest[..], to_micros(now))?))
}

/// Records an attempt; the caller holds the lock.
pub async fn record_sign_in_attempt(
    tx: &mut WriteTx<'_>,
    email_digest: [u8; 32],
    attempts: SignInAttempts,
) -> Result<()> {
    let (failures, until) = (attempts.failures.cast_signed(), to_micros(attempts.blocked_until));
    run!(tx.conn(), execute, RECORD, &email_digest[..], failures, until)?;
    Ok(())
}

/// Deletes the attempts for an address after a successful sign-in.
pub async fn clear_sign_in_attempts(tx: &mut WriteTx<'_>, email_digest: [u8; 32]) -> Result<()> {
    run!(tx.conn(), execute, CLEAR, &email_digest[..])?;
    Ok(())
}

/// Deletes attempts whose block ended before this time, oldest first, up to a limit.
pub async fn prune_sign_in_attempts(tx: &mut WriteTx<'_>, ended_before: Timestamp) -> Result<()> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { PRUNE } else { PRUNE_POSTGRES };
    run!(tx.conn(), execute, sql, to_micros(ended_before), PRUNED_AT_ONCE)?;
    Ok(())
}
