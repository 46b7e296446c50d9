//! Opening a store: locks, settings, version checks, migrations.

use crate::{
    backup,
    error::{Error, Result},
    feedback::{self, FeedbackBackend},
    migration, notify, partition,
    sqlite::{self, SqliteConnection},
    transaction::{Change, Notice},
    writer::{Stats, Writer},
};
use domain::Timestamp;
use sqlx::{
    ConnectOptions as _, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::SqliteConnectOptions,
};
use std::{
    fs::File,
    path::{Path, PathBuf},
    str::FromStr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::broadcast;

/// Name of the database file in the data directory.
pub(crate) const SQLITE_FILE: &str = "shiftbook.sqlite3";
/// Oldest SQLite without the WAL-reset corruption bug.
const SQLITE_VERSION_MIN: (u32, u32, u32) = (3, 51, 3);
/// Most idle read connections to the SQLite file.
const SQLITE_READERS_KEPT: usize = 8;
/// Most connections of one process to PostgreSQL.
const POSTGRES_CONNECTIONS_MAX: u32 = 16;
/// A connection that has been idle for less than this is used without a ping.
pub(crate) const POSTGRES_TRUSTED: Duration = Duration::from_millis(500);
/// Longest wait for a connection of the pool.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(2_500);
/// Error texts of the engines for a database without our tables, and of SQLite for a file that is no
/// database.
const NO_DATABASE: [&str; 3] = ["no such table", "does not exist", "not a database"];
/// Most notices that a watcher may lag behind before it has to re-read.
const NOTICES_MAX: usize = 4_096;

/// Where the data is stored.
#[derive(Debug, Clone)]
pub enum Database {
    /// One file in this directory.
    Sqlite {
        /// Created when missing.
        data_dir: PathBuf,
    },
    /// A PostgreSQL server.
    Postgres {
        /// `postgres://…`
        url: String,
        /// Start although the server is set to lose acknowledged writes in a power cut.
        accept_data_loss: bool,
    },
}

/// How the process uses the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The server. On SQLite only one server may use a data directory.
    Server,
    /// A command-line tool, with or without a server beside it.
    Tool,
    /// A command-line tool that only reads, also from read-only media. It creates, migrates and writes nothing.
    Reader,
}

/// The engine and its readers.
pub(crate) enum Db {
    Sqlite(Readers),
    Postgres(PgPool),
}

/// Read-only connections to the SQLite file: one for each concurrent read. A few idle ones are kept.
pub(crate) struct Readers {
    file: PathBuf,
    idle: Mutex<Vec<SqliteConnection>>,
    /// Set in [`Mode::Reader`].
    as_it_is: Option<ImmutableFile>,
}

/// How a [`Mode::Reader`] opened the file.
#[derive(Default)]
struct ImmutableFile {
    /// Whether a connection was opened as immutable: with the promise to SQLite that the file does not change.
    promised: AtomicBool,
}

impl Readers {
    pub(crate) fn take(&self) -> Result<SqliteConnection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(connection) => Ok(connection),
            None => self.open(),
        }
    }

    fn open(&self) -> Result<SqliteConnection> {
        let Some(still) = &self.as_it_is else { return Ok(SqliteConnection::open(&self.file, true)?) };
        let (connection, promised) = SqliteConnection::open_immutable(&self.file)?;
        still.promised.fetch_or(promised, Ordering::Relaxed);
        Ok(connection)
    }

    /// Whether another process opened the file after it was opened as immutable.
    fn has_changed(&self) -> bool {
        let promised = self.as_it_is.as_ref().is_some_and(|still| still.promised.load(Ordering::Relaxed));
        promised && !sqlite::is_closed(&self.file)
    }

    pub(crate) fn release(&self, connection: SqliteConnection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < SQLITE_READERS_KEPT {
            idle.push(connection);
        }
    }

    fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// An open store. Cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    db: Db,
    writer: Writer,
    notices: broadcast::Sender<Change>,
    notifier: Option<notify::Notifier>,
    data_dir: Option<PathBuf>,
    feedback: FeedbackBackend,
    reads: ReadCounters,
    /// The lock on the data directory, held until the store is closed: one server per data directory.
    lock: Mutex<Option<File>>,
}

/// Numbers of reads and snapshots since the process started.
#[derive(Default)]
pub(crate) struct ReadCounters {
    pub(crate) reads: AtomicU64,
    pub(crate) snapshots: AtomicU64,
}

impl Store {
    /// Opens the store and migrates it, unless `mode` is [`Mode::Reader`].
    ///
    /// # Errors
    /// Refuses a second server on one SQLite directory, an SQLite version with the WAL-reset bug, and a
    /// PostgreSQL server whose settings can lose acknowledged writes.
    pub async fn open(database: &Database, mode: Mode) -> Result<Self> {
        match (database, mode) {
            (Database::Sqlite { data_dir }, Mode::Reader) => Self::read_sqlite(data_dir),
            (Database::Sqlite { data_dir }, _) => match Self::open_sqlite(data_dir, mode).await {
                Err(_) if private::is_full(data_dir) => Err(disk_is_full(data_dir)),
                Ok(store) if mode == Mode::Server && private::is_full(data_dir) => {
                    // What is there can be read, so it starts; it is not ready until there is room.
                    store.0.writer.full().store(true, Ordering::Relaxed);
                    tracing::warn!("{}", disk_is_full(data_dir));
                    Ok(store)
                }
                opened => opened,
            },
            (Database::Postgres { url, accept_data_loss }, _) => {
                Self::open_postgres(url, *accept_data_loss, mode).await
            }
        }
    }

    /// Opens the database in this directory for reading only.
    fn read_sqlite(data_dir: &Path) -> Result<Self> {
        let file = data_dir.join(SQLITE_FILE);
        if !file.is_file() {
            let what = if data_dir.is_dir() { "holds no database" } else { "is no folder" };
            return Err(Error::Unusable(format!("{} {what}: there is no {SQLITE_FILE} in it", data_dir.display())));
        }
        let readers = Readers { file, idle: Mutex::default(), as_it_is: Some(ImmutableFile::default()) };
        let mut connection = readers.take()?;
        check_sqlite_version(&mut connection)?;
        readers.release(connection);
        Ok(Self(Arc::new(Inner {
            db: Db::Sqlite(readers),
            writer: Writer::none(),
            notices: broadcast::Sender::new(NOTICES_MAX),
            notifier: None,
            data_dir: Some(data_dir.to_owned()),
            feedback: FeedbackBackend::sqlite(data_dir.to_owned()),
            reads: ReadCounters::default(),
            lock: Mutex::new(None),
        })))
    }

    /// Refuses a database whose tables are those of another version.
    pub async fn check_schema(&self) -> Result<()> {
        type Version = (Option<i64>,);
        let found = match &self.0.db {
            Db::Sqlite(readers) => {
                let mut connection = readers.take()?;
                let found = connection.fetch_one::<Version>(crate::sql::SCHEMA_VERSION, &[]);
                readers.release(connection);
                found
            }
            Db::Postgres(pool) => sqlx::query_as(crate::sql::SCHEMA_VERSION).fetch_one(pool).await,
        };
        let of = if self.is_postgres() { migration::postgres() } else { migration::sqlite() };
        let newest = of.iter().map(|migration| migration.version).max().unwrap_or_default();
        match found {
            Ok((Some(version),)) if version == newest => Ok(()),
            Ok((Some(version),)) if version < newest => Err(Error::Unusable(format!(
                "the database is at migration {version} and this version needs {newest}: start its server once, or use \
                 the version that wrote it"
            ))),
            Ok((Some(version),)) => Err(Error::Unusable(format!(
                "the database is at migration {version}, of a newer version; this one knows {newest}"
            ))),
            Ok((None,)) => Err(Error::Unusable("the database is empty: no migration was applied".into())),
            Err(error) => match Error::from(error) {
                // Anything else is damage, which is not the same as another file.
                Error::Database(text) if NO_DATABASE.iter().any(|words| text.contains(words)) => {
                    Err(Error::Unusable(format!("this is no database of Shiftbook: {text}")))
                }
                other => Err(other),
            },
        }
    }

    /// Returns an error while the disk is full. The disk is checked only after a write failed because it was
    /// full; the check needs space for more than one page.
    pub fn check_disk_space(&self) -> Result<()> {
        match &self.0.data_dir {
            Some(data_dir) if self.is_full() && private::is_full(data_dir) => Err(disk_is_full(data_dir)),
            _ => Ok(()),
        }
    }

    /// Whether a write failed because the disk was full, and [`Self::clear_disk_full`] has not been called
    /// since.
    pub fn is_full(&self) -> bool {
        self.0.writer.full().load(Ordering::Relaxed)
    }

    /// Records that a write has reached the disk.
    pub fn clear_disk_full(&self) {
        self.0.writer.full().store(false, Ordering::Relaxed);
    }

    /// Problems that SQLite finds in the file of ratings; empty if there is no file.
    pub fn check_feedback_file(&self) -> Result<Vec<String>> {
        match &self.0.data_dir {
            Some(data_dir) => feedback::check_file(data_dir),
            None => Ok(Vec::new()),
        }
    }

    /// Whether a server began to write while a [`Mode::Reader`] read. The results may then mix two states of
    /// the database.
    pub fn has_changed(&self) -> bool {
        match &self.0.db {
            Db::Sqlite(readers) => readers.has_changed(),
            Db::Postgres(_) => false,
        }
    }

    async fn open_sqlite(data_dir: &Path, mode: Mode) -> Result<Self> {
        private::create_dir_all(data_dir)
            .map_err(|e| Error::Unavailable(format!("cannot create {}: {e}", data_dir.display())))?;
        let lock = match mode {
            Mode::Server => Some(lock_file(data_dir, "serve.lock", true)?),
            Mode::Tool | Mode::Reader => None,
        };
        let file = data_dir.join(SQLITE_FILE);
        let mut connection = SqliteConnection::open(&file, false)?;
        check_sqlite_version(&mut connection)?;
        {
            // sqlx takes no lock around SQLite migrations; two processes would both run them.
            let _migrating = lock_file(data_dir, "migrate.lock", false)?;
            let options = SqliteConnectOptions::new().filename(&file).foreign_keys(true).disable_statement_logging();
            let mut migrating = options.connect().await?;
            let migrated = migration::sqlite().run(&mut migrating).await;
            migrated.map_err(|e| Error::Database(format!("migration failed: {e}")))?;
            sqlx::Connection::close(migrating).await?;
        }
        let notices = broadcast::Sender::new(NOTICES_MAX);
        Ok(Self(Arc::new(Inner {
            db: Db::Sqlite(Readers { file, idle: Mutex::default(), as_it_is: None }),
            writer: Writer::sqlite(connection, notices.clone()),
            notices,
            notifier: None,
            data_dir: Some(data_dir.to_owned()),
            feedback: FeedbackBackend::sqlite(data_dir.to_owned()),
            reads: ReadCounters::default(),
            lock: Mutex::new(lock),
        })))
    }

    async fn open_postgres(url: &str, accept_data_loss: bool, mode: Mode) -> Result<Self> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|e| Error::Unavailable(format!("the database URL is not valid: {e}")))?
            .application_name("shiftbook")
            // Statements are never logged: they would carry content.
            .disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(POSTGRES_CONNECTIONS_MAX)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // A connection that was in use a moment ago is there; asking would cost every transaction a round trip.
            .test_before_acquire(false)
            .before_acquire(|connection, used| {
                Box::pin(async move {
                    if used.idle_for > POSTGRES_TRUSTED {
                        sqlx::Connection::ping(connection).await?;
                    }
                    Ok(true)
                })
            })
            .connect_with(options)
            .await?;
        if !accept_data_loss && mode != Mode::Reader {
            check_postgres_durability(&pool).await?;
        }
        if mode != Mode::Reader {
            migration::postgres().run(&pool).await.map_err(|e| Error::Database(format!("migration failed: {e}")))?;
        }
        let notices = broadcast::Sender::new(NOTICES_MAX);
        let notifier = notify::Notifier::start(pool.clone(), notices.clone());
        let sink = (notices.clone(), notifier.clone());
        Ok(Self(Arc::new(Inner {
            writer: Writer::postgres(pool.clone(), sink.0, sink.1),
            feedback: FeedbackBackend::Postgres(pool.clone()),
            db: Db::Postgres(pool),
            notices,
            notifier: Some(notifier),
            data_dir: None,
            reads: ReadCounters::default(),
            lock: Mutex::new(None),
        })))
    }

    pub(crate) fn db(&self) -> &Db {
        &self.0.db
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.0.writer
    }

    /// Sends notices of committed changes to watchers of this process and, on PostgreSQL, of other servers.
    pub(crate) fn publish(&self, notices: Vec<Notice>) {
        publish(&self.0.notices, self.0.notifier.as_ref(), notices);
    }

    /// Subscribes to committed changes. A receiver that lags must re-read what it shows.
    pub fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.0.notices.subscribe()
    }

    /// Whether this is PostgreSQL.
    pub fn is_postgres(&self) -> bool {
        matches!(self.0.db, Db::Postgres(_))
    }

    /// Counters for `/metrics`.
    pub fn stats(&self) -> Stats {
        let ReadCounters { reads, snapshots } = &self.0.reads;
        let (reads, snapshots) = (reads.load(Ordering::Relaxed), snapshots.load(Ordering::Relaxed));
        Stats { reads, snapshots, ..self.0.writer.stats() }
    }

    pub(crate) fn read_counters(&self) -> &ReadCounters {
        &self.0.reads
    }

    /// Writes a consistent copy of the SQLite file while the server runs.
    pub async fn backup(&self, target: &Path) -> Result<()> {
        match &self.0.db {
            Db::Sqlite(readers) => backup::sqlite(readers.take()?, target.to_owned()).await,
            Db::Postgres(_) => Err(Error::Unavailable("use pg_dump to back up PostgreSQL".into())),
        }
    }

    /// Writes a copy of the file of ratings. Returns `false` if there is none: on PostgreSQL the ratings are
    /// part of the database.
    pub async fn backup_feedback(&self, target: &Path) -> Result<bool> {
        match &self.0.data_dir {
            Some(data_dir) => feedback::back_up(data_dir, target.to_owned()).await,
            None => Ok(false),
        }
    }

    /// The storage of ratings. Its failure does not affect the ledger.
    pub fn feedback(&self) -> &FeedbackBackend {
        &self.0.feedback
    }

    /// Creates the partitions of the coming months on PostgreSQL. Safe to repeat and to run on several servers.
    pub async fn ensure_partitions(&self, now: Timestamp) -> Result<()> {
        match &self.0.db {
            Db::Sqlite(_) => Ok(()),
            Db::Postgres(pool) => partition::ensure(pool, now).await,
        }
    }

    /// The data directory, on SQLite.
    pub fn data_dir(&self) -> Option<&Path> {
        self.0.data_dir.as_deref()
    }

    /// Refuses new writes, finishes accepted ones, checkpoints and closes the database.
    pub async fn close(&self) {
        self.0.writer.close().await;
        self.0.feedback.close().await;
        match &self.0.db {
            Db::Sqlite(readers) => readers.close(),
            Db::Postgres(pool) => pool.close().await,
        }
        *self.0.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Sends committed changes to the watchers.
pub(crate) fn publish(local: &broadcast::Sender<Change>, remote: Option<&notify::Notifier>, notices: Vec<Notice>) {
    for notice in notices {
        if let Some(remote) = remote {
            remote.notify(&notice);
        }
        // An error only says that nobody watches.
        let _ = local.send(Change::Committed(notice));
    }
}

fn disk_is_full(data_dir: &Path) -> Error {
    Error::Unavailable(format!("the disk that holds {} is full: make room on it", data_dir.display()))
}

fn check_sqlite_version(connection: &mut SqliteConnection) -> Result<()> {
    type Version = (String,);
    let (version,) = connection.fetch_one::<Version>(crate::sql::SQLITE_VERSION, &[])?;
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    let mut part = || parts.next().unwrap_or_default();
    if (part(), part(), part()) < SQLITE_VERSION_MIN {
        return Err(Error::Unavailable(format!(
            "SQLite {version} can corrupt its write-ahead log; {}.{}.{} or newer is needed",
            SQLITE_VERSION_MIN.0, SQLITE_VERSION_MIN.1, SQLITE_VERSION_MIN.2
        )));
    }
    Ok(())
}

async fn check_postgres_durability(pool: &PgPool) -> Result<()> {
    let settings: Vec<(String, String)> = sqlx::query_as(crate::sql::POSTGRES_DURABILITY).fetch_all(pool).await?;
    let unsafe_ones: Vec<_> = settings.into_iter().filter(|(_, value)| value == "off").map(|(name, _)| name).collect();
    if unsafe_ones.is_empty() {
        return Ok(());
    }
    Err(Error::Unavailable(format!(
        "PostgreSQL would lose acknowledged writes in a power cut: {} off; turn on, or start with --i-accept-data-loss",
        unsafe_ones.join(", ")
    )))
}

/// Locks a file of the data directory; `exclusive_now` refuses instead of waiting.
pub(crate) fn lock_file(data_dir: &Path, name: &str, exclusive_now: bool) -> Result<File> {
    let path = data_dir.join(name);
    let unavailable = |e: &dyn std::fmt::Display| Error::Unavailable(format!("cannot lock {}: {e}", path.display()));
    let opened = private::options().create(true).write(true).truncate(false).open(&path);
    let file = opened.map_err(|e| unavailable(&e))?;
    if exclusive_now {
        file.try_lock().map_err(|_| Error::Unavailable(format!("another shiftbook serves {}", data_dir.display())))?;
    } else {
        file.lock().map_err(|e| unavailable(&e))?;
    }
    Ok(file)
}
