//! Online backup of the SQLite file: a complete, checked copy, put in place by one rename.

use crate::error::{Error, Result};
use crate::sqlite::SqliteConnection;
use std::path::{Path, PathBuf};

/// Copies into `target`, which must not exist. Takes as long as the disk does, so it has a thread of its own.
pub(crate) async fn sqlite(reader: SqliteConnection, target: PathBuf) -> Result<()> {
    let copied = tokio::task::spawn_blocking(move || copy(reader, &target)).await;
    copied.unwrap_or_else(|panic| Err(Error::Database(format!("the backup failed: {panic}"))))
}

fn copy(mut reader: SqliteConnection, target: &Path) -> Result<()> {
    let failed = |what: &str, e: &dyn std::fmt::Display| Error::Unavailable(format!("{what}: {e}"));
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
    let sql = format!("VACUUM INTO '{}'", partial.replace('\'', "''"));
    reader.batch(&sql)?;
    let file = std::fs::File::open(&partial).map_err(|e| failed("cannot open the copy", &e))?;
    file.sync_all().map_err(|e| failed("cannot sync the copy", &e))?;
    std::fs::rename(&partial, target).map_err(|e| failed("cannot rename the copy", &e))?;
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::File::open(parent).and_then(|dir| dir.sync_all()).map_err(|e| failed("cannot sync the directory", &e))
}
