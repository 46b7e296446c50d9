//! Transactions on PostgreSQL and their time limits.

use super::{
    conn::{Access, Mode},
    error::{Error, Result},
};
use sqlx::{AssertSqlSafe, Connection as _, PgPool};
use std::time::Duration;

/// Longest wait for PostgreSQL: 2.5 s. After it the caller gets [`Error::Unavailable`].
const POSTGRES_ANSWER_MAX: Duration = Duration::from_millis(2_500);
/// Longest time for a PostgreSQL transaction: 10 s. After it the connection is closed and not reused.
const POSTGRES_TRANSACTION_MAX: Duration = Duration::from_secs(10);
/// A connection that has been idle for less than this is used without a ping.
pub(crate) const POSTGRES_TRUSTED: Duration = Duration::from_millis(500);

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
/// transaction). A transaction of [`Mode::Operator`] is limited by its statements alone.
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
    let work = transaction_on(&mut connection, access, mode, body);
    let finished = if matches!(mode, Mode::Operator) { Ok(work.await) } else { with_timeout(work).await };
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
