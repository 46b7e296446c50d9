//! Reads and writes as closures over a transaction.
//!
//! On SQLite writes are jobs of the one writer. On PostgreSQL reads and writes run in their own
//! transactions and tasks, so that a client that disconnects does not cancel them.

use super::store::{Db, Store};
use crate::{
    engine::{Access, Conn, Error, Mode, Result, in_transaction, lane_with_timeout, spawn_with_timeout},
    event::{AppendRequest, Settled},
    session::FirstClaim,
    transaction::WriteTx,
};
use domain::session::Session;
use futures_util::future::BoxFuture;
use std::sync::atomic::Ordering;

/// Begins a read on SQLite. The first query takes the snapshot that all later ones see.
const BEGIN_SNAPSHOT_SQLITE: &str = "BEGIN DEFERRED";
const END_SNAPSHOT_SQLITE: &str = "COMMIT";

impl Store {
    /// Runs one or more queries on behalf of `access`. On SQLite each statement sees the newest commit; the
    /// log is append-only, so reads that go by sequence stay consistent without a snapshot.
    pub async fn read<T, F>(&self, access: Access, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t, 'c> FnOnce(&'t mut Conn<'c>) -> BoxFuture<'t, Result<T>> + Send + 'static,
    {
        self.read_counters().reads.fetch_add(1, Ordering::Relaxed);
        match self.db() {
            Db::Sqlite(readers) => {
                let mut connection = readers.take()?;
                let outcome = body(&mut Conn::Sqlite(&mut connection)).await;
                readers.release(connection);
                outcome
            }
            Db::Postgres(pool) => {
                let pool = pool.clone();
                spawn_with_timeout(async move {
                    in_transaction(&pool, access, Mode::Read, async |connection| {
                        body(&mut Conn::Postgres(connection)).await
                    })
                    .await
                })
                .await
            }
        }
    }

    /// Runs queries on behalf of `access` that all see one moment: the commits before the first query, and none after.
    ///
    /// For answers that are put together from several queries. On PostgreSQL it costs what [`Self::read`] costs; on
    /// SQLite it adds BEGIN and COMMIT, and the file cannot be checkpointed past this moment while `body` runs.
    pub async fn snapshot<T, E, F>(&self, access: Access, body: F) -> std::result::Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> FnOnce(&'t mut Conn<'c>) -> BoxFuture<'t, std::result::Result<T, E>> + Send + 'static,
    {
        self.read_counters().reads.fetch_add(1, Ordering::Relaxed);
        self.read_counters().snapshots.fetch_add(1, Ordering::Relaxed);
        match self.db() {
            Db::Sqlite(readers) => {
                let mut connection = readers.take()?;
                connection.control(BEGIN_SNAPSHOT_SQLITE).map_err(Error::from)?;
                let outcome = body(&mut Conn::Sqlite(&mut connection)).await;
                // A connection that is still in its transaction is closed instead of kept.
                connection.control(END_SNAPSHOT_SQLITE).map_err(Error::from)?;
                readers.release(connection);
                outcome
            }
            Db::Postgres(pool) => {
                let pool = pool.clone();
                spawn_with_timeout(async move {
                    in_transaction(&pool, access, Mode::Snapshot, async |connection| {
                        body(&mut Conn::Postgres(connection)).await
                    })
                    .await
                })
                .await
            }
        }
    }

    /// Runs `body` in one transaction and returns after COMMIT. An error of the body rolls it back.
    ///
    /// The body runs in a task of its own: a caller that goes away does not cancel it.
    pub async fn write<T, E, F>(&self, access: Access, body: F) -> std::result::Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t, 'c> FnOnce(&'t mut WriteTx<'c>) -> BoxFuture<'t, std::result::Result<T, E>> + Send + 'static,
    {
        match self.db() {
            Db::Sqlite(_) => self.writer().run(Box::new(body)).await,
            Db::Postgres(pool) => {
                self.writer().check_open()?;
                let (pool, store) = (pool.clone(), self.clone());
                spawn_with_timeout(async move {
                    let (value, notices) = in_transaction(&pool, access, Mode::Write, async |connection| {
                        let mut tx = WriteTx::new(Conn::Postgres(connection));
                        let value = body(&mut tx).await?;
                        Ok::<_, E>((value, tx.into_notices()))
                    })
                    .await?;
                    store.publish(notices);
                    Ok(value)
                })
                .await
            }
        }
    }

    /// Appends events; returns after COMMIT. Concurrent calls share a transaction.
    pub async fn append(&self, request: AppendRequest) -> Settled {
        if self.is_postgres() {
            return lane_with_timeout(self.writer().append(request)).await;
        }
        self.writer().append(request).await
    }

    /// Claims the oldest queued sessions in one statement, as many as `claim` has events for. Concurrent calls
    /// with the same terms share the statement.
    ///
    /// Returns `None`, and claims nothing, on SQLite and when one of the sessions was claimed before, depends
    /// on others, has time limits, or belongs to a person who has a working session.
    pub async fn claim_first(&self, access: Access, claim: FirstClaim) -> Result<Option<Vec<Session>>> {
        if !self.is_postgres() {
            return Ok(None);
        }
        #[cfg(feature = "planted-bugs")]
        if crate::engine::planted::is(crate::engine::planted::Bug::DoubleClaim) {
            return Ok(None);
        }
        lane_with_timeout(self.writer().claim(access, claim)).await
    }
}
