//! Rows of `sign_in_attempts`.

use crate::{
    conn::{Conn, run},
    error::Result,
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
};

const BY_EMAIL: &str = "SELECT failures, blocked_until FROM sign_in_attempts WHERE email_digest = $1";
const FAILED: &str = "INSERT INTO sign_in_attempts (email_digest, failures, blocked_until) VALUES ($1, 1, $2) \
     ON CONFLICT (email_digest) DO UPDATE SET failures = sign_in_attempts.failures + 1, blocked_until = excluded.blocked_until";
const CLEAR: &str = "DELETE FROM sign_in_attempts WHERE email_digest = $1";

pub(crate) const SQL: &[(&str, &str)] =
    &[("sign_in::BY_EMAIL", BY_EMAIL), ("sign_in::FAILED", FAILED), ("sign_in::CLEAR", CLEAR)];

/// What is remembered of failed sign-ins for one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInAttempts {
    /// Failures in a row.
    pub failures: u64,
    /// No attempt counts before this.
    pub blocked_until: Timestamp,
}

/// Failed sign-ins of an address (by digest).
pub async fn sign_in_attempts(conn: &mut Conn<'_>, email_digest: [u8; 32]) -> Result<Option<SignInAttempts>> {
    let row = run!(conn, fetch_optional(i64, i64), BY_EMAIL, &email_digest[..])?;
    Ok(row.map(|(failures, until)| SignInAttempts {
        failures: failures.cast_unsigned(),
        blocked_until: from_micros(until),
    }))
}

/// Counts a failure.
pub async fn record_sign_in_failure(
    tx: &mut WriteTx<'_>,
    email_digest: [u8; 32],
    blocked_until: Timestamp,
) -> Result<()> {
    run!(tx.conn(), execute, FAILED, &email_digest[..], to_micros(blocked_until))?;
    Ok(())
}

/// Forgets failures after a success.
pub async fn clear_sign_in_attempts(tx: &mut WriteTx<'_>, email_digest: [u8; 32]) -> Result<()> {
    run!(tx.conn(), execute, CLEAR, &email_digest[..])?;
    Ok(())
}
