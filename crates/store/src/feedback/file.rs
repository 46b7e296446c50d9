//! The SQLite file of ratings: one connection that writes and one that reads.
//!
//! Both are opened when they are first needed. A connection whose request failed is closed, and the next request opens
//! the file again. So a file that was damaged, missing or read-only works as soon as it has been repaired, without a
//! restart.

use crate::{
    engine::{
        Conn, Error, Result, SqliteConnection,
        application_id::{self, RATINGS},
        file, migration,
    },
    verify,
};
use futures_util::future::BoxFuture;
use sqlx::{ConnectOptions as _, sqlite::SqliteConnectOptions};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::sync::Mutex;

/// The file's name in the data directory.
const FILE: &str = "session_feedback.sqlite3";
/// How long emptying the write-ahead log waits for other processes that use the file.
const TRUNCATE_WAIT: Duration = Duration::from_millis(500);

/// The file and its connections.
pub struct FeedbackFile {
    data_dir: PathBuf,
    writer: Arc<Mutex<Writer>>,
    reader: Arc<Mutex<Option<SqliteConnection>>>,
}

#[derive(Default)]
struct Writer {
    connection: Option<SqliteConnection>,
    /// Whether the write-ahead log may hold ratings that were removed or replaced.
    has_remains: bool,
}

/// Queries on the place where ratings are.
pub(super) type Body<T> = Box<dyn for<'t, 'c> FnOnce(&'t mut Conn<'c>) -> BoxFuture<'t, Result<T>> + Send>;

/// The result of a write.
pub(super) struct Written<T> {
    /// Result for the caller.
    pub(super) value: T,
    /// Whether a rating was removed or replaced.
    pub(super) removed: bool,
}

impl FeedbackFile {
    pub(super) fn new(data_dir: PathBuf) -> Self {
        Self { data_dir, writer: Arc::default(), reader: Arc::default() }
    }

    /// Runs queries that only read. They take no lock, so a process that writes to the file does not hold them up.
    pub(super) async fn read<T: Send + 'static>(&self, body: Body<T>) -> Result<T> {
        let mut reader = Arc::clone(&self.reader).lock_owned().await;
        let data_dir = self.data_dir.clone();
        blocking(move || {
            let mut connection = match reader.take() {
                Some(connection) => connection,
                None => open_reader(&data_dir)?,
            };
            let outcome = futures_executor::block_on(body(&mut Conn::Sqlite(&mut connection)));
            if is_usable(&outcome) {
                *reader = Some(connection);
            }
            outcome
        })
        .await
    }

    /// Runs `body` in one transaction. It runs to its end even if the caller goes away. Waiting for the
    /// connection blocks no thread.
    ///
    /// When a rating was removed or replaced, the write-ahead log is emptied, because it still holds the old one.
    pub(super) async fn write<T: Send + 'static>(&self, body: Body<Written<T>>) -> Result<T> {
        let mut writer = Arc::clone(&self.writer).lock_owned().await;
        let data_dir = self.data_dir.clone();
        blocking(move || {
            let mut connection = writer.take(&data_dir)?;
            let outcome = in_transaction(&mut connection, body);
            if let Ok(written) = &outcome {
                writer.has_remains |= written.removed;
            }
            if is_usable(&outcome) {
                writer.truncate(&mut connection);
                writer.connection = Some(connection);
            }
            outcome.map(|written| written.value)
        })
        .await
    }

    /// Opens the file for writing, if it is not open.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the file is read-only, [`Error::Database`] when it cannot be opened or migrated.
    pub(super) async fn check(&self) -> Result<()> {
        let mut writer = Arc::clone(&self.writer).lock_owned().await;
        let data_dir = self.data_dir.clone();
        blocking(move || {
            let mut connection = writer.take(&data_dir)?;
            writer.truncate(&mut connection);
            writer.connection = Some(connection);
            Ok(())
        })
        .await
    }

    /// Empties the write-ahead log and closes the file.
    pub(super) async fn close(&self) {
        self.reader.lock().await.take();
        let mut writer = Arc::clone(&self.writer).lock_owned().await;
        let closed = blocking(move || {
            if let Some(mut connection) = writer.connection.take() {
                writer.has_remains = true;
                writer.truncate(&mut connection);
                connection.close()?;
            }
            Ok(())
        });
        if let Err(error) = closed.await {
            tracing::warn!(%error, "the file of ratings was not closed cleanly");
        }
    }
}

impl Writer {
    /// The connection, opened if it is not. It may be put back only if its request did not fail.
    fn take(&mut self, data_dir: &Path) -> Result<SqliteConnection> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        let connection = open_writer(data_dir)?;
        // A process that was killed may have left removed ratings in the write-ahead log.
        self.has_remains = true;
        Ok(connection)
    }

    /// Empties the write-ahead log if it may hold removed ratings. If another process prevents that, the next write
    /// tries again.
    fn truncate(&mut self, connection: &mut SqliteConnection) {
        if !self.has_remains {
            return;
        }
        match connection.truncate_wal(TRUNCATE_WAIT) {
            Ok(is_empty) => self.has_remains = !is_empty,
            Err(error) => tracing::warn!(%error, "removed ratings are still in the write-ahead log of {FILE}"),
        }
    }
}

/// What SQLite finds wrong in the file, where there is one. Each text begins with the file's name. A file that is so
/// damaged that SQLite does not read it is one of the problems too.
pub(crate) fn check_file(data_dir: &Path) -> Result<Vec<String>> {
    let file = data_dir.join(FILE);
    if !file.exists() {
        return Ok(Vec::new());
    }
    let checked = SqliteConnection::open_immutable(&file).map_err(Error::from);
    let problems = match checked.and_then(|(mut reader, _)| verify::check_file(&mut reader)) {
        Err(Error::Database(why)) => vec![why],
        checked => checked?,
    };
    Ok(problems.into_iter().map(|problem| format!("{FILE}: {problem}")).collect())
}

/// Copies the file, where there is one; whether there is.
pub(crate) async fn back_up(data_dir: &Path, target: PathBuf) -> Result<bool> {
    let file = data_dir.join(FILE);
    if !file.exists() {
        return Ok(false);
    }
    let (reader, immutable) = SqliteConnection::open_immutable(&file)?;
    file::back_up(reader, target, move || immutable.is_some_and(|file| file.has_changed())).await?;
    Ok(true)
}

/// Runs what waits for a lock or for the disk on a thread of its own.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|panic| Err(Error::Database(format!("{FILE} failed: {panic}"))))
}

/// Whether the connection may be used for the next request. After a database error (damage, a disk error, a file that
/// became read-only) only a new one finds out whether that has passed.
fn is_usable<T>(outcome: &Result<T>) -> bool {
    !matches!(outcome, Err(Error::Database(_)))
}

fn in_transaction<T>(connection: &mut SqliteConnection, body: Body<T>) -> Result<T> {
    connection.batch("BEGIN IMMEDIATE")?;
    let outcome = futures_executor::block_on(body(&mut Conn::Sqlite(connection)));
    let outcome = outcome.and_then(|value| Ok(connection.batch("COMMIT").map(|()| value)?));
    if outcome.is_err() {
        // Where even that fails, the next BEGIN says so.
        let _ = connection.batch("ROLLBACK");
    }
    outcome
}

fn open_writer(data_dir: &Path) -> Result<SqliteConnection> {
    let connection = open_migrated(data_dir)?;
    if connection.is_read_only()? {
        let file = data_dir.join(FILE);
        return Err(Error::Unavailable(format!("{} is read-only, so no rating can be kept", file.display())));
    }
    Ok(connection)
}

fn open_reader(data_dir: &Path) -> Result<SqliteConnection> {
    drop(open_migrated(data_dir)?);
    Ok(SqliteConnection::open(&data_dir.join(FILE), true)?)
}

/// Opens the file with the settings of the ledger's own, and migrates it. SQLite opens a write-protected file for
/// reading.
///
/// # Errors
/// [`Error::Unusable`] for a file that is not ours: an empty one, or one of another program.
fn open_migrated(data_dir: &Path) -> Result<SqliteConnection> {
    let file = data_dir.join(FILE);
    if file.exists() {
        application_id::check(&RATINGS, &file)?;
    } else {
        application_id::create(&RATINGS, data_dir, &file)?;
    }
    let mut connection = SqliteConnection::open(&file, false)?;
    let _migrating = file::lock(data_dir, "migrate.lock", false)?;
    futures_executor::block_on(migrate(&file))?;
    if !connection.is_read_only()? {
        application_id::mark(&RATINGS, &mut connection)?;
    }
    Ok(connection)
}

async fn migrate(file: &Path) -> Result<()> {
    let options = SqliteConnectOptions::new().filename(file).disable_statement_logging();
    let mut migrating = options.connect().await?;
    let migrated = migration::sqlite_feedback().run(&mut migrating).await;
    migrated.map_err(|e| Error::Database(format!("migration of {FILE} failed: {e}")))?;
    sqlx::Connection::close(migrating).await?;
    Ok(())
}
