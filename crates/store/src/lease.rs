//! Rows of `leases`: work that one server does for all of them.

use crate::{conn::run, error::Result, transaction::WriteTx};
use domain::{Timestamp, clock::to_micros};

const TAKE: &str = "INSERT INTO leases (name, holder, expires_at) VALUES ($1, $2, $3) \
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at \
     WHERE leases.holder = excluded.holder OR leases.expires_at <= $4";

pub(crate) const SQL: &[(&str, &str)] = &[("lease::TAKE", TAKE)];

/// Takes or extends the lease of this name until `until`. `false` while somebody else holds it.
pub async fn take(tx: &mut WriteTx<'_>, name: &str, holder: &str, now: Timestamp, until: Timestamp) -> Result<bool> {
    let taken = run!(tx.conn(), execute, TAKE, name, holder, to_micros(until), to_micros(now))?;
    Ok(taken == 1)
}
