//! Opens the SQLite file: the lock on its folder, its version and its migrations.

use super::{
    readers::{Readers, SQLITE_FILE},
    store::{Db, Inner, Mode, NOTICES_MAX, ReadCounters, Store},
};
use crate::{
    engine::{
        Error, Result, SqliteConnection,
        application_id::{self, LEDGER},
        file, migration, statements,
    },
    feedback::FeedbackBackend,
    writer::Writer,
};
use sqlx::{ConnectOptions as _, sqlite::SqliteConnectOptions};
use std::{
    path::Path,
    sync::{Arc, Mutex},
};
use tokio::sync::broadcast;

/// Oldest SQLite without the WAL-reset corruption bug.
const SQLITE_VERSION_MIN: (u32, u32, u32) = (3, 51, 3);

statements! {
    /// The version of the SQLite library.
    const VERSION_SQLITE: &str = "SELECT sqlite_version()";
}

impl Store {
    /// Opens the database in this directory for reading only.
    pub(super) fn read_sqlite(data_dir: &Path) -> Result<Self> {
        let file = data_dir.join(SQLITE_FILE);
        if !file.is_file() {
            let what = if data_dir.is_dir() { "holds no database" } else { "is no folder" };
            return Err(Error::Unusable(format!("{} {what}: there is no {SQLITE_FILE} in it", data_dir.display())));
        }
        application_id::check(&LEDGER, &file)?;
        let readers = Readers::of_unchanging(file);
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

    pub(super) async fn open_sqlite(data_dir: &Path, mode: Mode) -> Result<Self> {
        private::create_dir_all(data_dir)
            .map_err(|e| Error::Unavailable(format!("cannot create {}: {e}", data_dir.display())))?;
        let lock = match mode {
            Mode::Server => Some(file::lock(data_dir, "serve.lock", true)?),
            Mode::Tool | Mode::Reader => None,
        };
        let path = data_dir.join(SQLITE_FILE);
        if path.exists() {
            application_id::check(&LEDGER, &path)?;
        } else {
            application_id::create(&LEDGER, data_dir, &path)?;
        }
        let mut connection = SqliteConnection::open(&path, false)?;
        check_sqlite_version(&mut connection)?;
        {
            // sqlx takes no lock around SQLite migrations; two processes would both run them.
            let _migrating = file::lock(data_dir, "migrate.lock", false)?;
            let options = SqliteConnectOptions::new().filename(&path).foreign_keys(true).disable_statement_logging();
            let mut migrating = options.connect().await?;
            let migrated = migration::sqlite().run(&mut migrating).await;
            migrated.map_err(|e| Error::Database(format!("migration failed: {e}")))?;
            sqlx::Connection::close(migrating).await?;
            application_id::mark(&LEDGER, &mut connection)?;
        }
        let notices = broadcast::Sender::new(NOTICES_MAX);
        let writer = Writer::sqlite(connection, notices.clone());
        if mode == Mode::Server {
            writer.look_for_others();
        }
        Ok(Self(Arc::new(Inner {
            db: Db::Sqlite(Readers::new(path)),
            writer,
            notices,
            notifier: None,
            data_dir: Some(data_dir.to_owned()),
            feedback: FeedbackBackend::sqlite(data_dir.to_owned()),
            reads: ReadCounters::default(),
            lock: Mutex::new(lock),
        })))
    }
}

fn check_sqlite_version(connection: &mut SqliteConnection) -> Result<()> {
    type Version = (String,);
    let (version,) = connection.fetch_one::<Version>(VERSION_SQLITE, &[])?;
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
