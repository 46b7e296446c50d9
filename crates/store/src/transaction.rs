//! Reads and writes as closures over a transaction.
//!
//! On SQLite writes are jobs of the one writer. On PostgreSQL reads and writes run in their own
//! transactions and tasks, so that a client that disconnects does not cancel them.

use crate::{
    conn::{Access, Conn, Mode},
    error::{Error, Result},
    open::{Db, Store},
    record::EventRecord,
};
use domain::{
    id::{SessionId, TenantId},
    session::Status,
};
use futures_util::future::BoxFuture;
use sqlx::{AssertSqlSafe, Connection as _, PgPool};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

/// Longest wait for PostgreSQL: 2.5 s. After it the caller gets [`Error::Unavailable`].
const POSTGRES_ANSWER_MAX: Duration = Duration::from_millis(2_500);
/// Longest time for a PostgreSQL transaction: 10 s. After it the connection is closed and not reused.
const POSTGRES_TRANSACTION_MAX: Duration = Duration::from_secs(10);

/// Begins a read on SQLite. The first query takes the snapshot that all later ones see.
const BEGIN_SNAPSHOT_SQLITE: &str = "BEGIN DEFERRED";
const END_SNAPSHOT_SQLITE: &str = "COMMIT";

/// What a commit changed in a session, for watchers. Notices may be lost, so correctness must not depend on
/// them.
#[derive(Debug, Clone)]
pub struct Notice {
    /// The workspace of the session.
    pub tenant_id: TenantId,
    /// The session that was changed.
    pub session_id: SessionId,
    /// Newest sequence of the session.
    pub head_sequence: u64,
    /// Status of the session after the commit.
    pub status: Status,
    /// Whether the status changed. Counts by status may have changed then.
    pub status_changed: bool,
    /// The committed events in order; empty if the notice came from another server.
    pub events: Arc<[EventRecord]>,
}

/// What watchers of the store receive.
#[derive(Debug, Clone)]
pub enum Change {
    /// A session was changed.
    Committed(Notice),
    /// Notices of other servers may have been lost. Watchers must re-read what they show.
    Missed,
}

/// One write transaction. Everything done through it commits or rolls back together.
pub struct WriteTx<'c> {
    conn: Conn<'c>,
    notices: Vec<Notice>,
    endings: Vec<(TenantId, SessionId)>,
}

impl<'c> WriteTx<'c> {
    pub(crate) fn new(conn: Conn<'c>) -> Self {
        Self { conn, notices: Vec::new(), endings: Vec::new() }
    }

    /// The connection that runs the statements of this transaction.
    pub fn conn(&mut self) -> &mut Conn<'c> {
        &mut self.conn
    }

    pub(crate) fn notice(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    pub(crate) fn ended(&mut self, tenant_id: TenantId, session_id: SessionId) {
        self.endings.push((tenant_id, session_id));
    }

    /// Takes the endings that this transaction recorded. The caller follows them up once the transaction is
    /// committed.
    pub fn take_endings(&mut self) -> Vec<(TenantId, SessionId)> {
        std::mem::take(&mut self.endings)
    }

    pub(crate) fn into_notices(self) -> Vec<Notice> {
        self.notices
    }
}

/// The body of a write. A refusal (`E`) rolls the transaction back.
pub(crate) type Body<T, E> =
    Box<dyn for<'t, 'c> FnOnce(&'t mut WriteTx<'c>) -> BoxFuture<'t, std::result::Result<T, E>> + Send>;

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
}

/// Runs `work` to its end in its own task. Returns [`Error::Unavailable`] if it takes longer than 2.5 s.
pub(crate) async fn spawn_with_timeout<T, E>(
    work: impl Future<Output = std::result::Result<T, E>> + Send + 'static,
) -> std::result::Result<T, E>
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
{
    let work = tokio::spawn(work);
    lane_with_timeout(async move {
        work.await.unwrap_or_else(|panic| Err(Error::Database(format!("database task failed: {panic}")).into()))
    })
    .await
}

/// Waits for the answer of a lane and returns [`Error::Unavailable`] after 2.5 s. A lane finishes a job
/// even if the caller goes away, so the job needs no task of its own.
pub(crate) async fn lane_with_timeout<T, E: From<Error>>(
    work: impl Future<Output = std::result::Result<T, E>>,
) -> std::result::Result<T, E> {
    let answer = tokio::time::timeout(POSTGRES_ANSWER_MAX, work).await;
    answer.unwrap_or_else(|_| Err(Error::Unavailable("the database does not answer".into()).into()))
}

/// Runs one PostgreSQL transaction on a connection of the pool. If it times out, the connection is closed
/// and not reused, because its state is unknown (sqlx 0.9.0 can return a connection that is still in a
/// transaction).
pub(crate) async fn in_transaction<T, E>(
    pool: &PgPool,
    access: Access,
    mode: Mode,
    body: impl AsyncFnOnce(&mut sqlx::PgConnection) -> std::result::Result<T, E>,
) -> std::result::Result<T, E>
where
    E: From<Error>,
{
    let mut connection = pool.acquire().await.map_err(Error::from)?;
    let finished = with_timeout(transaction_on(&mut connection, access, mode, body)).await;
    finished.unwrap_or_else(|late| {
        connection.close_on_drop();
        Err(late.into())
    })
}

/// Limits the time of a database operation to 10 s. After a timeout the connection must not be used again.
pub(crate) async fn with_timeout<T>(work: impl Future<Output = T>) -> Result<T> {
    let finished = tokio::time::timeout(POSTGRES_TRANSACTION_MAX, work).await;
    finished.map_err(|_| Error::Unavailable("the database does not answer".into()))
}

/// Runs one PostgreSQL transaction without a time limit; the caller sets one with [`with_timeout`].
pub(crate) async fn transaction_on<T, E>(
    connection: &mut sqlx::PgConnection,
    access: Access,
    mode: Mode,
    body: impl AsyncFnOnce(&mut sqlx::PgConnection) -> std::result::Result<T, E>,
) -> std::result::Result<T, E>
where
    E: From<Error>,
{
    let mut transaction = connection.begin_with(AssertSqlSafe(access.begin_sql(mode))).await.map_err(Error::from)?;
    match body(&mut transaction).await {
        Ok(value) => {
            transaction.commit().await.map_err(Error::from)?;
            Ok(value)
        }
        Err(refusal) => {
            transaction.rollback().await.map_err(Error::from)?;
            Err(refusal)
        }
    }
}
