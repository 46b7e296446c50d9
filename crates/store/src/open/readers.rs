//! The read connections to the SQLite file.

use crate::engine::{Result, SqliteConnection, is_closed};
use std::{
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// Name of the database file in the data directory.
pub(super) const SQLITE_FILE: &str = "shiftbook.sqlite3";
/// Most idle read connections to the SQLite file.
const SQLITE_READERS_KEPT: usize = 8;

/// Read-only connections to the SQLite file: one for each concurrent read. A few idle ones are kept.
pub(super) struct Readers {
    file: PathBuf,
    idle: Mutex<Vec<SqliteConnection>>,
    /// Set in [`Mode::Reader`](super::Mode::Reader).
    as_it_is: Option<ImmutableFile>,
}

/// How a [`Mode::Reader`](super::Mode::Reader) opened the file.
#[derive(Default)]
struct ImmutableFile {
    /// Whether a connection was opened as immutable: with the promise to SQLite that the file does not change.
    promised: AtomicBool,
}

impl Readers {
    /// Readers of a file that is written meanwhile.
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file, idle: Mutex::default(), as_it_is: None }
    }

    /// Readers of a file that nothing is expected to change, for [`Mode::Reader`](super::Mode::Reader).
    pub(super) fn of_unchanging(file: PathBuf) -> Self {
        Self { file, idle: Mutex::default(), as_it_is: Some(ImmutableFile::default()) }
    }

    pub(super) fn take(&self) -> Result<SqliteConnection> {
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
    pub(super) fn has_changed(&self) -> bool {
        let promised = self.as_it_is.as_ref().is_some_and(|still| still.promised.load(Ordering::Relaxed));
        promised && !is_closed(&self.file)
    }

    pub(super) fn release(&self, connection: SqliteConnection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < SQLITE_READERS_KEPT {
            idle.push(connection);
        }
    }

    pub(super) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
