//! An SQLite connection that runs queries on the calling thread.
//!
//! A query on SQLite takes microseconds. Through sqlx's worker thread each query costs two thread wake-ups,
//! which took most of an append's time (docs/benchmarks.md). The cost is that the calling thread is blocked
//! until the query is done. So long operations (verify, backup) run on a blocking thread, and the writer
//! has its own thread.

use super::{
    error::{SqliteFailure, is_full},
    sql::statements,
};
use rusqlite::{
    Row, ToSql,
    config::DbConfig,
    functions::{Context, FunctionFlags},
    types::FromSql,
};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

/// How long to wait for another process that holds the write lock, such as a command-line tool next to a
/// server: 5 s.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Size to which SQLite truncates the WAL file after a checkpoint, in bytes.
const WAL_BYTES_MAX: i64 = 64 * 1024 * 1024;
/// Page cache of the writer: 16 MiB. SQLite takes negative values as KiB.
const WRITER_CACHE: i64 = -16_384;
/// Page cache of a reader: 2 MiB. It is small because there are several readers and the operating system
/// caches the file too.
const READER_CACHE: i64 = -2_048;
/// Most prepared statements that a connection keeps.
const STATEMENTS_MAX: usize = 256;

statements! {
    /// Moves the write-ahead log into the file and empties it.
    const CHECKPOINT_SQLITE: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

    /// A number that changes when another connection commits, and not by commits of the connection that reads it.
    const DATA_VERSION_SQLITE: &str = "PRAGMA data_version";
}

type Result<T> = std::result::Result<T, sqlx::Error>;

/// A connection, a flag that is set when a write fails because the disk is full, and the number of statements that it
/// has run.
pub struct SqliteConnection(rusqlite::Connection, Arc<AtomicBool>, u64);

/// A file that was opened with the promise to SQLite that it does not change.
pub(crate) struct ImmutableFile {
    path: PathBuf,
    /// Time of its last change before it was opened; `None` if the file system does not tell.
    modified: Option<SystemTime>,
}

impl ImmutableFile {
    fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), modified: modified(path) }
    }

    /// Whether another process has the file open, or has changed it since.
    pub(crate) fn has_changed(&self) -> bool {
        !is_closed(&self.path) || modified(&self.path) != self.modified
    }
}

fn modified(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok()
}

/// A value that is read from a row. Columns of a struct are found by name, those of a tuple by position.
pub(crate) trait FromSqlite: Sized {
    /// Names of the columns; empty if they are found by position.
    const COLUMNS: &'static [&'static str];
    /// Reads the row; `at` holds the positions of [`Self::COLUMNS`].
    fn read(row: &Row<'_>, at: &[usize]) -> rusqlite::Result<Self>;
}

macro_rules! tuples {
    ($($($name:ident $place:tt),+;)+) => {$(
        impl<$($name: FromSql),+> FromSqlite for ($($name,)+) {
            const COLUMNS: &'static [&'static str] = &[];
            fn read(row: &Row<'_>, _: &[usize]) -> rusqlite::Result<Self> {
                Ok(($(row.get::<_, $name>($place)?,)+))
            }
        }
    )+};
}
tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}

impl SqliteConnection {
    /// Opens the file with the settings that durability and erasure depend on. Creates it unless `read_only`.
    pub(crate) fn open(file: &Path, read_only: bool) -> Result<Self> {
        use rusqlite::OpenFlags;
        let access = if read_only {
            OpenFlags::SQLITE_OPEN_READ_ONLY
        } else {
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
        };
        if !read_only {
            // SQLite gives its -wal and -shm files the mode of the database file, so the database file is created
            // here.
            private::ensure(file)?;
        }
        let opened = rusqlite::Connection::open_with_flags(file, access | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let connection = opened.map_err(SqliteFailure::into_sqlx)?;
        let connection = Self(connection, Arc::default(), 0);
        connection.configure(read_only).map_err(SqliteFailure::into_sqlx)?;
        Ok(connection)
    }

    /// Opens a file for reading, and makes nothing beside it.
    ///
    /// SQLite creates a -wal and a -shm file when a file in WAL mode is opened. That leaves files behind and
    /// fails on read-only media. Without a -wal no process has the file open and all data is in the file, so
    /// The file is opened as immutable. Then the file is returned too, which knows whether that still holds.
    pub(crate) fn open_immutable(file: &Path) -> Result<(Self, Option<ImmutableFile>)> {
        use rusqlite::OpenFlags;
        let immutable = ImmutableFile::of(file);
        if !is_closed(file) {
            return Ok((Self::open(file, true)?, None));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = rusqlite::Connection::open_with_flags(still_uri(file), flags);
        let connection = Self(opened.map_err(SqliteFailure::into_sqlx)?, Arc::default(), 0);
        connection.configure(true).map_err(SqliteFailure::into_sqlx)?;
        Ok((connection, Some(immutable)))
    }

    fn configure(&self, read_only: bool) -> rusqlite::Result<()> {
        let synchronous = "full";
        #[cfg(feature = "planted-bugs")]
        let synchronous =
            if super::planted::is(super::planted::Bug::SynchronousNormal) { "normal" } else { synchronous };
        let c = &self.0;
        c.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        // Query plans must not depend on bound values. Otherwise SQLite prepares a statement anew for each
        // execution if it has a `LIMIT $n` or a comparison that a partial index names, which took a third of a
        // worker's time (docs/benchmarks.md).
        c.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        c.busy_timeout(BUSY_TIMEOUT)?;
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
        c.create_scalar_function("lower", 1, flags, lower)?;
        if !read_only {
            c.pragma_update(None, "journal_mode", "wal")?;
            #[cfg(feature = "planted-bugs")]
            if super::planted::is(super::planted::Bug::NoDedup) {
                // Without it the id would still be refused a second time.
                c.execute_batch("DROP INDEX IF EXISTS session_events_id")?;
            }
        }
        c.pragma_update(None, "synchronous", synchronous)?;
        c.pragma_update(None, "foreign_keys", true)?;
        c.pragma_update(None, "secure_delete", true)?;
        c.pragma_update(None, "journal_size_limit", WAL_BYTES_MAX)?;
        c.pragma_update(None, "cache_size", if read_only { READER_CACHE } else { WRITER_CACHE })?;
        // Savepoints of a group keep their undo log in memory instead of making and removing a file each time.
        c.pragma_update(None, "temp_store", "memory")
    }

    /// The flag that is set when a write fails because the disk is full. The reader of the flag clears it.
    pub(crate) fn full(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.1)
    }

    /// Whether a write failed because the disk was full, and no one has read the flag since.
    pub(crate) fn is_full(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }

    fn failed(&self, error: rusqlite::Error) -> sqlx::Error {
        if is_full(error.sqlite_error()) {
            self.1.store(true, Ordering::Relaxed);
        }
        SqliteFailure::into_sqlx(error)
    }

    /// Number of statements that the connection has run.
    pub(crate) const fn statements(&self) -> u64 {
        self.2
    }

    /// Runs a frequent statement without binds and rows: BEGIN, SAVEPOINT, COMMIT.
    pub(crate) fn control(&mut self, sql: &'static str) -> Result<()> {
        self.execute(sql, &[]).map(drop)
    }

    /// Runs statements without binds and discards their rows.
    pub(crate) fn batch(&mut self, sql: &str) -> Result<()> {
        self.0.execute_batch(sql).map_err(|error| self.failed(error))
    }

    /// Runs a statement and returns the number of rows that it changed.
    pub(crate) fn execute(&mut self, sql: &str, binds: &[&dyn ToSql]) -> Result<u64> {
        self.2 += 1;
        let mut statement = self.0.prepare_cached(sql).map_err(|error| self.failed(error))?;
        bind(&mut statement, binds).map_err(|error| self.failed(error))?;
        statement.raw_execute().map(|changed| changed as u64).map_err(|error| self.failed(error))
    }

    /// Calls `each` with every row until it returns `Break`.
    pub(crate) fn each<T: FromSqlite>(
        &mut self,
        sql: &str,
        binds: &[&dyn ToSql],
        mut each: impl FnMut(T) -> std::ops::ControlFlow<()>,
    ) -> Result<()> {
        self.2 += 1;
        let mut walk = || {
            let mut statement = self.0.prepare_cached(sql)?;
            let places = places(&statement, T::COLUMNS)?;
            bind(&mut statement, binds)?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                if each(T::read(row, &places)?).is_break() {
                    break;
                }
            }
            Ok(())
        };
        walk().map_err(|error| self.failed(error))
    }

    pub(crate) fn fetch_all<T: FromSqlite>(&mut self, sql: &str, binds: &[&dyn ToSql]) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.each(sql, binds, |row| {
            all.push(row);
            std::ops::ControlFlow::Continue(())
        })?;
        Ok(all)
    }

    pub(crate) fn fetch_optional<T: FromSqlite>(&mut self, sql: &str, binds: &[&dyn ToSql]) -> Result<Option<T>> {
        let mut first = None;
        self.each(sql, binds, |row| {
            first = Some(row);
            std::ops::ControlFlow::Break(())
        })?;
        Ok(first)
    }

    pub(crate) fn fetch_one<T: FromSqlite>(&mut self, sql: &str, binds: &[&dyn ToSql]) -> Result<T> {
        self.fetch_optional(sql, binds)?.ok_or(sqlx::Error::RowNotFound)
    }

    /// Whether the database cannot be written. SQLite opens a write-protected file for reading without an
    /// error.
    pub(crate) fn is_read_only(&self) -> Result<bool> {
        self.0.is_readonly("main").map_err(SqliteFailure::into_sqlx)
    }

    /// Whether a transaction is open. After some errors SQLite ends it by itself.
    pub(crate) fn is_in_transaction(&self) -> bool {
        !self.0.is_autocommit()
    }

    /// Copies the write-ahead log into the database file and truncates it to nothing, so that what was deleted can be
    /// read from neither. Waits up to `wait` for others that use the file; `false` if they were in the way.
    pub(crate) fn truncate_wal(&mut self, wait: Duration) -> Result<bool> {
        type Outcome = (i64, i64, i64);
        self.0.busy_timeout(wait).map_err(SqliteFailure::into_sqlx)?;
        let outcome = self.fetch_one::<Outcome>(CHECKPOINT_SQLITE, &[]);
        self.0.busy_timeout(BUSY_TIMEOUT).map_err(SqliteFailure::into_sqlx)?;
        let (busy, ..) = outcome?;
        Ok(busy == 0)
    }

    /// A number that is another one after a commit of another connection.
    pub(crate) fn data_version(&mut self) -> Result<i64> {
        type Version = (i64,);
        self.fetch_one::<Version>(DATA_VERSION_SQLITE, &[]).map(|(version,)| version)
    }

    /// Closes the connection and returns an error if that fails.
    pub(crate) fn close(self) -> Result<()> {
        self.0.close().map_err(|(_, error)| SqliteFailure::into_sqlx(error))
    }
}

/// `lower(text)` for letters of every script; SQLite's own function changes those of ASCII alone. Each letter is
/// lowered by itself, so that a part of a text is found in it.
fn lower(call: &Context<'_>) -> rusqlite::Result<Option<String>> {
    let text = call.get_raw(0).as_str_or_null()?;
    Ok(text.map(|text| text.chars().flat_map(char::to_lowercase).collect()))
}

/// Whether no process has the file open. The last process to close it removes the -wal. An empty -wal
/// without a -shm was left by a process that was killed before it wrote.
fn is_closed(file: &Path) -> bool {
    let beside = |suffix: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        std::fs::metadata(PathBuf::from(name))
    };
    beside("-wal").map_or(true, |wal| wal.len() == 0 && beside("-shm").is_err())
}

/// The file as a URI that tells SQLite that the file does not change.
fn still_uri(file: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in file.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// The positions of the columns with these names. Most queries have the columns in the order of the struct,
/// so the search for each starts after the one before.
fn places(statement: &rusqlite::Statement<'_>, columns: &[&str]) -> rusqlite::Result<Vec<usize>> {
    let count = statement.column_count();
    let mut next = 0;
    let mut place = |name: &&str| {
        for at in (next..count).chain(0..next) {
            if statement.column_name(at)? == *name {
                next = at + 1;
                return Ok(at);
            }
        }
        Err(rusqlite::Error::InvalidColumnName((*name).to_owned()))
    };
    columns.iter().map(&mut place).collect()
}

/// Binds the values. `$2` is the second bind in every place, as on PostgreSQL; SQLite alone numbers names
/// in the order of their first use. A plain `?` is the next bind.
fn bind(statement: &mut rusqlite::CachedStatement<'_>, binds: &[&dyn ToSql]) -> rusqlite::Result<()> {
    for place in 1..=statement.parameter_count() {
        let named = statement.parameter_name(place).and_then(|name| name.strip_prefix('$')?.parse::<usize>().ok());
        let value =
            binds.get(named.unwrap_or(place) - 1).ok_or(rusqlite::Error::InvalidParameterCount(place, binds.len()))?;
        statement.raw_bind_parameter(place, value)?;
    }
    Ok(())
}
