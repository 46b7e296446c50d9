//! The store: what it is opened with, and what can be done with it as a whole.

use super::{
    growth::check_growth,
    readers::{Readers, SQLITE_FILE},
};
use crate::{
    engine::{Error, Result, file},
    event::{self, Change, Notifier, PresenceNotice, ProgressNotice, publish},
    feedback::{self, FeedbackBackend},
    writer::{Stats, Writer},
};
use domain::Timestamp;
use sqlx::PgPool;
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::sync::broadcast;

/// Most notices that a watcher may lag behind before it has to re-read.
pub(super) const NOTICES_MAX: usize = 4_096;

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
pub(super) enum Db {
    Sqlite(Readers),
    Postgres(PgPool),
}

/// An open store. Cheap to clone.
#[derive(Clone)]
pub struct Store(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) db: Db,
    pub(super) writer: Writer,
    pub(super) notices: broadcast::Sender<Change>,
    pub(super) notifier: Option<Notifier>,
    pub(super) data_dir: Option<PathBuf>,
    pub(super) feedback: FeedbackBackend,
    pub(super) reads: ReadCounters,
    /// The lock on the data directory, held until the store is closed: one server per data directory.
    pub(super) lock: Mutex<Option<File>>,
}

/// Numbers of reads, snapshots and their statements since the process started.
#[derive(Default)]
pub(super) struct ReadCounters {
    pub(super) reads: AtomicU64,
    pub(super) snapshots: AtomicU64,
    pub(super) statements: AtomicU64,
}

impl Store {
    /// Opens the store and migrates it, unless `mode` is [`Mode::Reader`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] for a second server on one SQLite directory, an SQLite version with the WAL-reset bug, a
    /// PostgreSQL server whose settings can lose acknowledged writes, and a directory that cannot be created or whose
    /// disk is full; [`Error::Database`] if a migration fails; [`Error::Unusable`] for a file that is no database of
    /// Shiftbook, and for [`Mode::Reader`] if there is none.
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
                let store = Self::open_postgres(url, *accept_data_loss, mode).await?;
                if mode == Mode::Server
                    && let Db::Postgres(pool) = store.db()
                {
                    match check_growth(pool).await {
                        // As on SQLite, it starts, and is not ready until there is room.
                        Err(error) if store.is_full() => tracing::warn!("{error}"),
                        Err(error) => tracing::warn!(%error, "whether the database can grow could not be checked"),
                        Ok(()) => {}
                    }
                }
                Ok(store)
            }
        }
    }

    /// Returns an error while the disk is full. The disk is checked only after a write failed because it was
    /// full; the check needs space for more than one page.
    ///
    /// # Errors
    /// [`Error::Unavailable`] while the disk is full.
    pub async fn check_disk_space(&self) -> Result<()> {
        match (&self.0.db, &self.0.data_dir) {
            _ if !self.is_full() => Ok(()),
            (Db::Postgres(pool), _) => check_growth(pool).await,
            (Db::Sqlite(_), Some(data_dir)) if private::is_full(data_dir) => Err(disk_is_full(data_dir)),
            (Db::Sqlite(_), _) => Ok(()),
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

    pub(super) fn db(&self) -> &Db {
        &self.0.db
    }

    pub(super) fn writer(&self) -> &Writer {
        &self.0.writer
    }

    /// Sends committed changes to watchers of this process and, on PostgreSQL, of other servers.
    pub(super) fn publish(&self, changes: Vec<Change>) {
        publish(&self.0.notices, self.0.notifier.as_ref(), changes);
    }

    /// Sends where a participant of a canvas is to watchers of this process and, on PostgreSQL, of other servers. Best
    /// effort.
    pub fn announce(&self, presence: PresenceNotice) {
        self.publish(vec![Change::Presence(presence)]);
    }

    /// Notifies other servers of one PostgreSQL database that someone's access changed. Best effort; does nothing on
    /// SQLite, whose server looks once a second for commits of other processes.
    pub async fn access_changed(&self) {
        if let Some(notifier) = &self.0.notifier {
            notifier.access_changed().await;
        }
    }

    /// Notifies the other servers of one PostgreSQL database how far a worker is, at most five times a second. Best
    /// effort; does nothing on SQLite, which has one server.
    pub fn notify_progress(&self, progress: ProgressNotice) {
        if let Some(notifier) = &self.0.notifier {
            notifier.notify(&Change::Progress(progress));
        }
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
        let ReadCounters { reads, snapshots, statements } = &self.0.reads;
        let [reads, snapshots, statements] = [reads, snapshots, statements].map(|of| of.load(Ordering::Relaxed));
        Stats { reads, snapshots, statements, ..self.0.writer.stats() }
    }

    pub(super) fn read_counters(&self) -> &ReadCounters {
        &self.0.reads
    }

    /// Writes a consistent copy of the SQLite file while the server runs.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if `target` exists or cannot be written, if a server began to write while a
    /// [`Mode::Reader`] copied, and always on PostgreSQL, which `pg_dump` copies.
    pub async fn backup(&self, target: &Path) -> Result<()> {
        match &self.0.db {
            Db::Sqlite(readers) => {
                let store = self.clone();
                file::back_up(readers.take()?, target.to_owned(), move || store.has_changed()).await
            }
            Db::Postgres(_) => Err(Error::Unavailable("use pg_dump to back up PostgreSQL".into())),
        }
    }

    /// Writes a copy of the file of ratings. Returns `false` if there is none: on PostgreSQL the ratings are
    /// part of the database.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if `target` exists or cannot be written, or if a server began to write during the copy.
    pub async fn backup_feedback(&self, target: &Path) -> Result<bool> {
        match &self.0.data_dir {
            Some(data_dir) => feedback::back_up(data_dir, target.to_owned()).await,
            None => Ok(false),
        }
    }

    /// Removes erased content from the write-ahead log of SQLite, as a job of the writer. Deleted content is
    /// overwritten in the file itself (`secure_delete`). If a reader prevents it, a later write tries again. Does
    /// nothing on PostgreSQL.
    pub async fn empty_wal(&self) {
        if matches!(self.0.db, Db::Sqlite(_)) {
            self.0.writer.empty_wal().await;
        }
    }

    /// Removes erased content from the SQLite file: empties the write-ahead log and rewrites every page. No
    /// writes are possible meanwhile, so no server may run. Does nothing on PostgreSQL.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if another process has the database open. Then erased content stays in its write-ahead
    /// log.
    pub async fn scrub(&self) -> Result<()> {
        let Some(data_dir) = self.data_dir() else { return Ok(()) };
        let path = data_dir.join(SQLITE_FILE);
        let scrubbed = tokio::task::spawn_blocking(move || file::scrub(&path)).await;
        scrubbed.unwrap_or_else(|panic| Err(Error::Database(format!("the file could not be scrubbed: {panic}"))))
    }

    /// The storage of ratings. Its failure does not affect the ledger.
    pub fn feedback(&self) -> &FeedbackBackend {
        &self.0.feedback
    }

    /// Creates the partitions of the coming months on PostgreSQL. Safe to repeat and to run on several servers. What
    /// cannot be created now is logged and left to the next call.
    pub async fn ensure_partitions(&self, now: Timestamp) -> Result<()> {
        match &self.0.db {
            Db::Sqlite(_) => Ok(()),
            Db::Postgres(pool) => event::ensure_partitions(pool, now).await,
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

fn disk_is_full(data_dir: &Path) -> Error {
    Error::Unavailable(format!("the disk that holds {} is full: make room on it", data_dir.display()))
}
