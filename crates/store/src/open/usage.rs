//! What the database takes of the disk, and its connections. Nothing is asked of the database.

use super::{
    readers::SQLITE_FILE,
    store::{Db, Store},
};
use std::{fs, path::PathBuf};

/// What the database takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseUse {
    /// The files of SQLite.
    Sqlite {
        /// Bytes of the database.
        bytes: u64,
        /// Bytes of its write-ahead log.
        wal_bytes: u64,
    },
    /// The connections of this process to PostgreSQL.
    Postgres {
        /// Connections that are open.
        connections: u64,
        /// Those of them that nothing uses.
        idle: u64,
    },
}

impl Store {
    /// Returns what the database takes now. A file that cannot be looked at counts as empty.
    pub fn database_use(&self) -> DatabaseUse {
        match (self.db(), self.data_dir()) {
            (Db::Postgres(pool), _) => {
                DatabaseUse::Postgres { connections: pool.size().into(), idle: pool.num_idle() as u64 }
            }
            (Db::Sqlite(_), data_dir) => {
                let file = data_dir.map(|data_dir| data_dir.join(SQLITE_FILE)).unwrap_or_default();
                let mut wal = file.clone().into_os_string();
                wal.push("-wal");
                let bytes = |file: PathBuf| fs::metadata(file).map_or(0, |file| file.len());
                DatabaseUse::Sqlite { bytes: bytes(file), wal_bytes: bytes(wal.into()) }
            }
        }
    }
}
