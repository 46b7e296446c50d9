//! Rows of `leases`: work that one server does for all servers. Also the clock for all leases.

use crate::{
    engine::{Conn, Error, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
};

statements! {
    const TAKE: &str = "INSERT INTO leases (name, holder, expires_at) VALUES ($1, $2, $3) \
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at \
         WHERE leases.holder = excluded.holder OR leases.expires_at <= $4";

    // Of the statement, not of the transaction: a write that waited for a lock gives a lease its full length.
    const NOW_POSTGRES: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)";
}

/// The clock by which leases are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseTime {
    /// The clock of the PostgreSQL server, which all servers share. SQLite has none.
    Database,
    /// A time of the one process that gives and takes leases.
    Given(Timestamp),
}

impl LeaseTime {
    /// The current time of this clock.
    ///
    /// # Errors
    /// [`Error::Database`] for [`Self::Database`] on SQLite.
    pub async fn now(self, conn: &mut Conn<'_>) -> Result<Timestamp> {
        match (self, conn) {
            (Self::Given(now), _) => Ok(now),
            (Self::Database, Conn::Postgres(c)) => {
                let (now,): (i64,) = sqlx::query_as(NOW_POSTGRES).fetch_one(&mut **c).await?;
                Ok(from_micros(now))
            }
            (Self::Database, Conn::Sqlite(_)) => Err(Error::Database("SQLite has no clock of its own".into())),
        }
    }
}

/// Takes or extends the lease of this name until `until`. Returns `false` while another server holds it.
pub async fn take(tx: &mut WriteTx<'_>, name: &str, holder: &str, now: Timestamp, until: Timestamp) -> Result<bool> {
    let taken = run!(tx.conn(), execute, TAKE, name, holder, to_micros(until), to_micros(now))?;
    Ok(taken == 1)
}
