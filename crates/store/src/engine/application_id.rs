//! Tells the files of Shiftbook from other files, before anything is written to them.
//!
//! SQLite keeps a number for the application in the header of a file. New databases have ours from the moment at which
//! they get their name, so a crash leaves no file without it. Those of earlier versions get it when they are opened.

use super::{Error, Result, SqliteConnection, error::SqliteFailure, file, statements};
use rusqlite::ErrorCode;
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// A file that Shiftbook keeps, and how it is known.
pub(crate) struct Kind {
    /// What it is, for messages.
    what: &'static str,
    /// Number in the header of the file.
    id: i64,
    set_id: &'static str,
    /// How many of its tables exist, and how many there are: files of earlier versions have no number.
    own_tables: &'static str,
    tables: i64,
}

/// The database of the log and of all that belongs to it.
pub(crate) const LEDGER: Kind = Kind {
    what: "database of Shiftbook",
    id: 0x5348_424B, // SHBK
    set_id: SET_LEDGER_SQLITE,
    own_tables: LEDGER_TABLES_SQLITE,
    tables: 3,
};
/// The database of people's ratings.
pub(crate) const RATINGS: Kind = Kind {
    what: "file of ratings of Shiftbook",
    id: 0x5348_4246, // SHBF
    set_id: SET_RATINGS_SQLITE,
    own_tables: RATINGS_TABLES_SQLITE,
    tables: 2,
};

statements! {
    const ID_SQLITE: &str = "PRAGMA application_id";
    const SET_LEDGER_SQLITE: &str = "PRAGMA application_id = 0x5348424B";
    const SET_RATINGS_SQLITE: &str = "PRAGMA application_id = 0x53484246";
    /// How many of the tables exist that every version of Shiftbook had.
    const LEDGER_TABLES_SQLITE: &str = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' \
         AND name IN ('_sqlx_migrations', 'session_events', 'tenants')";
    const RATINGS_TABLES_SQLITE: &str = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' \
         AND name IN ('_sqlx_migrations', 'session_feedback')";
}

/// Refuses a file that is none of this kind. Nothing is written.
///
/// # Errors
/// [`Error::Unusable`] for a file without content, one that is not of SQLite, and one of another program.
pub(crate) fn check(kind: &Kind, path: &Path) -> Result<()> {
    let not_ours =
        |why: &str| Err(Error::Unusable(format!("{} is no {}: {why}. {}", path.display(), kind.what, advice(path))));
    let cannot_read = |why: String| Error::Unavailable(format!("cannot read {}: {why}", path.display()));
    if fs::metadata(path).map_err(|e| cannot_read(e.to_string()))?.len() == 0 {
        return not_ours("it is empty (0 bytes)");
    }
    // Only SQLite opens the file. This process may have it open, and would lose its locks on the file with the first
    // descriptor of it that is closed in another way. Then another process may remove the write-ahead log in use.
    let opened = SqliteConnection::open_immutable(path).and_then(|(mut connection, _)| {
        let (id,) = connection.fetch_one::<(i64,)>(ID_SQLITE, &[])?;
        Ok((connection, id))
    });
    let (mut connection, id) = match opened {
        Err(error) => match SqliteFailure::class_of(&error) {
            Some(ErrorCode::NotADatabase) => return not_ours("it is not an SQLite file"),
            Some(ErrorCode::CannotOpen) => return Err(cannot_read(error.to_string())),
            _ => return Err(error.into()),
        },
        Ok(opened) => opened,
    };
    match id {
        id if id == kind.id => Ok(()),
        0 if connection.fetch_one::<(i64,)>(kind.own_tables, &[])?.0 == kind.tables => Ok(()),
        0 => not_ours("it has other tables, or none"),
        other => not_ours(&format!("it belongs to another program (application_id {other:#x})")),
    }
}

/// What an operator can do about a file that is not ours.
fn advice(path: &Path) -> &'static str {
    let has_key = path.parent().is_some_and(|folder| folder.join("instance.key").exists());
    if has_key {
        "The instance key beside it shows that there was one: restore a backup of it"
    } else {
        "Name another data directory, or restore a backup; for a new installation, move the file away"
    }
}

fn id_of(connection: &mut SqliteConnection) -> Result<i64> {
    let (id,) = connection.fetch_one::<(i64,)>(ID_SQLITE, &[])?;
    Ok(id)
}

/// Gives a file of an earlier version its number.
pub(crate) fn mark(kind: &Kind, connection: &mut SqliteConnection) -> Result<()> {
    if id_of(connection)? != kind.id {
        connection.batch(kind.set_id)?;
    }
    Ok(())
}

/// Creates the file of a data directory that has none. Another process that does the same is waited for.
///
/// # Errors
/// [`Error::Unusable`] if there is a write-ahead log whose database is missing: SQLite would write its changes into the
/// new one.
pub(crate) fn create(kind: &Kind, data_dir: &Path, path: &Path) -> Result<()> {
    let _creating = file::lock(data_dir, "migrate.lock", false)?;
    if path.exists() {
        return Ok(());
    }
    let log = beside(path, "-wal");
    if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        return Err(Error::Unusable(format!(
            "{} is there and {}, which it belongs to, is missing: restore both, or a backup; for a new \
             installation, move the file away",
            log.display(),
            path.file_name().unwrap_or_default().display()
        )));
    }
    let cannot = |e: io::Error| Error::Unavailable(format!("cannot create {}: {e}", path.display()));
    // Its name until it has its number.
    let new = beside(path, ".new");
    for remains in [new.clone(), beside(&new, "-wal"), beside(&new, "-shm")] {
        if remains.exists() {
            fs::remove_file(&remains).map_err(cannot)?;
        }
    }
    let mut connection = SqliteConnection::open(&new, false)?;
    connection.batch(kind.set_id)?;
    connection.close()?;
    File::open(&new).and_then(|new| new.sync_all()).map_err(cannot)?;
    fs::rename(&new, path).map_err(cannot)?;
    File::open(data_dir).and_then(|folder| folder.sync_all()).map_err(cannot)
}

/// The file beside a database whose name ends so.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name of the file, as a data directory has it.
    const SQLITE_FILE: &str = "shiftbook.sqlite3";

    #[test]
    fn a_new_database_has_our_number_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(SQLITE_FILE);
        fs::write(beside(&path, ".new"), "half of an earlier one").unwrap();
        create(&LEDGER, dir.path(), &path).unwrap();
        check(&LEDGER, &path).unwrap();
        create(&LEDGER, dir.path(), &path).unwrap();
        let mut names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["migrate.lock", SQLITE_FILE]);
    }

    #[test]
    fn a_write_ahead_log_without_its_database_is_not_written_into_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(SQLITE_FILE);
        fs::write(beside(&path, "-wal"), "changes").unwrap();
        assert!(matches!(create(&LEDGER, dir.path(), &path), Err(Error::Unusable(_))));
        assert!(!path.exists());
    }

    #[test]
    fn a_file_of_another_program_is_refused_and_not_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(SQLITE_FILE);
        for (sql, why) in [
            ("CREATE TABLE tenants (id)", "other tables"),
            ("PRAGMA application_id = 7; CREATE TABLE tenants (id)", "another program (application_id 0x7)"),
        ] {
            let _ = fs::remove_file(&path);
            rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
            let before = fs::read(&path).unwrap();
            let refused = check(&LEDGER, &path).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
            assert_eq!(fs::read(&path).unwrap(), before);
        }
        for (content, why) in [("", "0 bytes"), ("not of SQLite at all", "not an SQLite file")] {
            fs::write(&path, content).unwrap();
            let refused = check(&LEDGER, &path).unwrap_err().to_string();
            assert!(refused.contains(why) && refused.contains("move the file away"), "{refused}");
        }
        fs::write(dir.path().join("instance.key"), "key").unwrap();
        let refused = check(&LEDGER, &path).unwrap_err().to_string();
        assert!(refused.ends_with("restore a backup of it"), "{refused}");
    }

    /// Locks on a file, as the kernel lists them.
    #[cfg(target_os = "linux")]
    fn locks(path: &Path) -> usize {
        use std::os::unix::fs::MetadataExt as _;
        let inode = format!(":{} ", fs::metadata(path).unwrap().ino());
        let listed = fs::read_to_string("/proc/locks").unwrap();
        listed.lines().filter(|line| line.contains("POSIX") && line.contains(&inode)).count()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_is_open_keeps_its_locks() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(SQLITE_FILE);
        create(&LEDGER, dir.path(), &path).unwrap();
        let mut open = SqliteConnection::open(&path, false).unwrap();
        assert_eq!(id_of(&mut open).unwrap(), LEDGER.id);
        assert_eq!(locks(&path), 1);
        check(&LEDGER, &path).unwrap();
        assert_eq!(locks(&path), 1);
    }

    #[test]
    fn each_kind_of_file_is_told_from_the_other() {
        let dir = tempfile::tempdir().unwrap();
        let (ledger, ratings) = (dir.path().join("a"), dir.path().join("b"));
        create(&LEDGER, dir.path(), &ledger).unwrap();
        create(&RATINGS, dir.path(), &ratings).unwrap();
        check(&RATINGS, &ratings).unwrap();
        let refused = check(&RATINGS, &ledger).unwrap_err().to_string();
        assert!(refused.contains("is no file of ratings"), "{refused}");
        assert!(matches!(check(&LEDGER, &ratings), Err(Error::Unusable(_))));
    }
}
