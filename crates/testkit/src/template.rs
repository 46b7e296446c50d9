//! Migrated databases that tests copy, because migrations take longer than most tests. The first test creates them with
//! the product's own migrations. Each set of migrations has its own.

use sqlx::{AssertSqlSafe, Executor as _, PgConnection};
use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};
use store::Database;

/// Name of the database in a data directory.
pub(crate) const SQLITE_FILE: &str = "shiftbook.sqlite3";

/// Returns the name of a migrated PostgreSQL database.
pub(crate) async fn postgres(connection: &mut PgConnection, server: &str) -> String {
    let digest = migrations_digest("postgres");
    let name = format!("shiftbook_template_{digest:016x}");
    let exists = format!("SELECT COUNT(*) FROM pg_database WHERE datname = '{name}'");
    let exists = async |connection: &mut PgConnection| -> bool {
        sqlx::query_scalar::<_, i64>(AssertSqlSafe(exists.as_str())).fetch_one(connection).await.unwrap() > 0
    };
    if exists(connection).await {
        return name;
    }
    let key = digest.cast_signed();
    connection.execute(AssertSqlSafe(format!("SELECT pg_advisory_lock({key})"))).await.unwrap();
    if !exists(connection).await {
        // The database gets its final name when it is complete, so a test that is interrupted leaves no incomplete
        // template.
        let draft = format!("t_{}", uuid::Uuid::from_u128(fastrand::u128(..)).simple());
        connection.execute(AssertSqlSafe(format!("CREATE DATABASE {draft}"))).await.unwrap();
        let database = Database::Postgres { url: url_of(server, &draft), accept_data_loss: true };
        store::Store::open(&database, store::Mode::Tool).await.unwrap().close().await;
        connection.execute(AssertSqlSafe(format!("ALTER DATABASE {draft} RENAME TO {name}"))).await.unwrap();
    }
    connection.execute(AssertSqlSafe(format!("SELECT pg_advisory_unlock({key})"))).await.unwrap();
    name
}

/// Returns the path of a migrated SQLite file.
pub(crate) async fn sqlite() -> PathBuf {
    let file = std::env::temp_dir().join(format!("shiftbook_template_{:016x}.sqlite3", migrations_digest("sqlite")));
    if !file.exists() {
        let draft = tempfile::tempdir().unwrap();
        let database = Database::Sqlite { data_dir: draft.path().to_owned() };
        store::Store::open(&database, store::Mode::Tool).await.unwrap().close().await;
        // Other tests may do the same at this moment. Renaming replaces one complete file by another.
        fs::rename(draft.path().join(SQLITE_FILE), &file).unwrap();
    }
    file
}

/// Returns the URL of another database on this server.
pub(crate) fn url_of(server: &str, database: &str) -> String {
    let (base, _) = server.rsplit_once('/').unwrap();
    let query = server.split_once('?').map(|(_, query)| format!("?{query}")).unwrap_or_default();
    format!("{base}/{database}{query}")
}

/// Returns a digest over the names and texts of an engine's migrations.
fn migrations_digest(engine: &str) -> u64 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(engine);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        (file.file_name(), fs::read(&file).unwrap()).hash(&mut hasher);
    }
    hasher.finish()
}
