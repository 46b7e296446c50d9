//! An SQLite file as a whole: locks in its folder, a complete copy of it put in place by one rename, and the removal of
//! erased content.

use super::{
    error::{Error, Result},
    sql::statements,
    sqlite::SqliteConnection,
};
use std::{
    fs::File,
    path::{Path, PathBuf},
    time::Duration,
};

statements! {
    /// Rewrites every page of the file.
    const VACUUM_SQLITE: &str = "VACUUM";
    /// Keeps what is temporary in files, such as the copy that VACUUM makes.
    const TEMP_STORE_FILE_SQLITE: &str = "PRAGMA temp_store = file";
}

/// How long emptying the write-ahead log waits for other processes that use the file.
const TRUNCATE_WAIT: Duration = Duration::from_secs(1);

/// Copies into `target`, which must not exist. Takes as long as the disk does, so it has a thread of its own.
/// `has_changed` tells, after the copy, whether the file was opened as immutable and a server writes to it since.
pub(crate) async fn back_up(
    reader: SqliteConnection,
    target: PathBuf,
    has_changed: impl FnOnce() -> bool + Send + 'static,
) -> Result<()> {
    let copied = tokio::task::spawn_blocking(move || copy(reader, &target, has_changed)).await;
    copied.unwrap_or_else(|panic| Err(Error::Database(format!("the backup failed: {panic}"))))
}

fn failed(what: &str, e: &dyn std::fmt::Display) -> Error {
    Error::Unavailable(format!("{what}: {e}"))
}

fn copy(reader: SqliteConnection, target: &Path, has_changed: impl FnOnce() -> bool) -> Result<()> {
    if target.exists() {
        return Err(Error::Unavailable(format!("{} exists already", target.display())));
    }
    let text = target.to_str().ok_or_else(|| Error::Unavailable("the path is not UTF-8".into()))?;
    let partial = format!("{text}.partial");
    if Path::new(&partial).exists() {
        std::fs::remove_file(&partial).map_err(|e| failed("cannot remove an old partial copy", &e))?;
    }
    // SQLite takes an empty file as none, and keeps its mode.
    private::create_new(Path::new(&partial)).map_err(|e| failed("cannot make the copy", &e))?;
    if let Err(error) = copy_into(reader, &partial, target, has_changed) {
        // On a full disk the server can write again only without the partial copy. The first error is the cause.
        let _ = std::fs::remove_file(&partial);
        return Err(error);
    }
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::File::open(parent).and_then(|dir| dir.sync_all()).map_err(|e| failed("cannot sync the directory", &e))
}

/// Copies into the empty file `partial`, syncs it and gives it the name `target`. On an error `partial` stays.
fn copy_into(
    mut reader: SqliteConnection,
    partial: &str,
    target: &Path,
    has_changed: impl FnOnce() -> bool,
) -> Result<()> {
    let sql = format!("VACUUM INTO '{}'", partial.replace('\'', "''"));
    let copied = reader.batch(&sql);
    if has_changed() {
        // The copy may mix two states of the file, and an error may come from that too.
        return Err(Error::Unavailable("a server began to write during the copy: run the backup again".into()));
    }
    copied?;
    let file = File::open(partial).map_err(|e| failed("cannot open the copy", &e))?;
    file.sync_all().map_err(|e| failed("cannot sync the copy", &e))?;
    std::fs::rename(partial, target).map_err(|e| failed("cannot rename the copy", &e))
}

/// Locks a file of the data directory; `exclusive_now` refuses instead of waiting.
pub(crate) fn lock(data_dir: &Path, name: &str, exclusive_now: bool) -> Result<File> {
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

/// Removes erased content from a file: empties the write-ahead log and rewrites every page.
pub(crate) fn scrub(file: &Path) -> Result<()> {
    let mut connection = open_to_rewrite(file)?;
    // VACUUM removes the free pages of the old file. The checkpoint then replaces its old pages with the new
    // ones.
    empty_wal(&mut connection)?;
    connection.batch(VACUUM_SQLITE)?;
    empty_wal(&mut connection)
}

/// Opens a file for VACUUM. Other connections keep in memory what is temporary, and the copy that VACUUM makes is as
/// large as the file.
fn open_to_rewrite(file: &Path) -> Result<SqliteConnection> {
    let mut connection = SqliteConnection::open(file, false)?;
    connection.batch(TEMP_STORE_FILE_SQLITE)?;
    Ok(connection)
}

fn empty_wal(connection: &mut SqliteConnection) -> Result<()> {
    if connection.truncate_wal(TRUNCATE_WAIT)? {
        return Ok(());
    }
    Err(Error::Unavailable(
        "another process has the database open, so erased content stays in its write-ahead log: stop it and run this again"
            .into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_not_rewritten_in_memory() {
        type Setting = (i64,);
        // As SQLite numbers them: 1 is a file, 2 is memory.
        let temp_store = |mut c: SqliteConnection| c.fetch_one::<Setting>("PRAGMA temp_store", &[]).unwrap().0;
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("some.sqlite3");
        assert_eq!(temp_store(SqliteConnection::open(&file, false).unwrap()), 2);
        assert_eq!(temp_store(open_to_rewrite(&file).unwrap()), 1);
    }
}
