//! `[backup]`: copies of the SQLite database that a server makes.

use super::{Database, Error};
use domain::limit::{BACKUP_HOURS_MAX, BACKUPS_KEPT_MAX};
use serde::Deserialize;
use std::{num::NonZeroU32, path::PathBuf};

/// Hours between two copies when no one says.
const EVERY_HOURS_DEFAULT: NonZeroU32 = NonZeroU32::MIN.saturating_add(23);
/// Number of copies that are kept when no one says.
const KEEP_DEFAULT: NonZeroU32 = NonZeroU32::MIN.saturating_add(13);

/// The table of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BackupFile {
    folder: PathBuf,
    every_hours: Option<NonZeroU32>,
    keep: Option<NonZeroU32>,
}

/// Copies that a server makes of its SQLite database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSettings {
    /// Folder of the copies. It is created when missing.
    pub folder: PathBuf,
    /// Hours between two copies, 1 to [`BACKUP_HOURS_MAX`].
    pub every_hours: u32,
    /// Number of copies that are kept, 1 to [`BACKUPS_KEPT_MAX`].
    pub keep: u32,
}

/// Checks the table.
pub(super) fn settings(file: BackupFile, database: &Database) -> Result<BackupSettings, Error> {
    let refused = |text: String| Err(Error::Value(text));
    if let Database::Postgres { .. } = database {
        return refused("[backup] is for SQLite: on PostgreSQL, back up with pg_dump".into());
    }
    if file.folder.as_os_str().is_empty() {
        return refused("backup.folder is empty".into());
    }
    let every_hours = file.every_hours.unwrap_or(EVERY_HOURS_DEFAULT).get();
    if every_hours > BACKUP_HOURS_MAX {
        return refused(format!("backup.every_hours is 1 to {BACKUP_HOURS_MAX}"));
    }
    let keep = file.keep.unwrap_or(KEEP_DEFAULT).get();
    if keep > BACKUPS_KEPT_MAX {
        return refused(format!("backup.keep is 1 to {BACKUPS_KEPT_MAX}"));
    }
    Ok(BackupSettings { folder: file.folder, every_hours, keep })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<BackupSettings, String> {
        let file = toml::from_str(text).unwrap();
        settings(file, &Database::Sqlite("data".into())).map_err(|error| error.to_string())
    }

    #[test]
    fn a_folder_is_enough() {
        let settings = checked("folder = \"/backup\"").unwrap();
        assert_eq!((settings.every_hours, settings.keep), (24, 14));
    }

    #[test]
    fn numbers_have_bounds_and_postgresql_has_its_own_copies() {
        assert_eq!(checked("folder = \"/b\"\nevery_hours = 800").unwrap_err(), "backup.every_hours is 1 to 744");
        assert_eq!(checked("folder = \"/b\"\nkeep = 1001").unwrap_err(), "backup.keep is 1 to 1000");
        assert_eq!(checked("folder = \"\"").unwrap_err(), "backup.folder is empty");
        let postgres = Database::Postgres { url: "postgres://db/log".into(), accept_data_loss: false };
        let refused = settings(toml::from_str("folder = \"/b\"").unwrap(), &postgres).unwrap_err().to_string();
        assert!(refused.contains("pg_dump"), "{refused}");
    }
}
