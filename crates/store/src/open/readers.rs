//! The read connections to the SQLite file.

use crate::engine::{ImmutableFile, Result, SqliteConnection};
use std::{
    path::PathBuf,
    sync::{Mutex, OnceLock, PoisonError},
};

/// Name of the database file in the data directory.
pub const SQLITE_FILE: &str = "shiftbook.sqlite3";
/// Most idle read connections to the SQLite file.
const SQLITE_READERS_KEPT: usize = 8;

/// Read-only connections to the SQLite file: one for each concurrent read. A few idle ones are kept.
pub(super) struct Readers {
    file: PathBuf,
    idle: Mutex<Vec<SqliteConnection>>,
    /// Set in [`Mode::Reader`](super::Mode::Reader): the file as the first connection found it that was opened as
    /// immutable.
    as_it_is: Option<OnceLock<ImmutableFile>>,
}

impl Readers {
    /// Readers of a file that is written meanwhile.
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file, idle: Mutex::default(), as_it_is: None }
    }

    /// Readers of a file that nothing is expected to change, for [`Mode::Reader`](super::Mode::Reader).
    pub(super) fn of_unchanging(file: PathBuf) -> Self {
        Self { file, idle: Mutex::default(), as_it_is: Some(OnceLock::new()) }
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
        let (connection, immutable) = SqliteConnection::open_immutable(&self.file)?;
        if let Some(immutable) = immutable {
            let _ = still.set(immutable);
        }
        Ok(connection)
    }

    /// Whether another process opened or changed the file after it was opened as immutable.
    pub(super) fn has_changed(&self) -> bool {
        self.as_it_is.as_ref().and_then(OnceLock::get).is_some_and(ImmutableFile::has_changed)
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
