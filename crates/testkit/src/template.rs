//! Databases that tests copy, because making them takes longer than most tests: migrated ones, and ones with the
//! people of a fixture. The first test creates them with the product's own migrations and use cases. Each set of
//! migrations has its own; with people, each test program has.

use crate::{Engine, people::People};
use sqlx::{AssertSqlSafe, Executor as _, PgConnection};
use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// Name of the database in a data directory.
pub(crate) const SQLITE_FILE: &str = "shiftbook.sqlite3";
/// File beside a SQLite database with the people that it has.
const PEOPLE_FILE: &str = "people";

/// What a template has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// The tables, without rows of a workspace.
    Migrated,
    /// Two workspaces with people and a token.
    People,
}

impl Content {
    /// Extends the digest of the migrations by what else the content depends on: people are written by use cases, which
    /// are in this program.
    fn digest(self, migrations: u64) -> u64 {
        if self == Self::Migrated {
            return migrations;
        }
        let program = fs::metadata(std::env::current_exe().unwrap()).unwrap();
        let mut hasher = DefaultHasher::new();
        (migrations, program.modified().unwrap(), program.len()).hash(&mut hasher);
        hasher.finish()
    }
}

/// Returns the name of a PostgreSQL database to copy, and its people if it has any.
pub(crate) async fn postgres(
    connection: &mut PgConnection,
    server: &str,
    content: Content,
) -> (String, Option<People>) {
    static MIGRATIONS: LazyLock<u64> = LazyLock::new(|| migrations_digest("postgres"));
    let digest = content.digest(*MIGRATIONS);
    let name = format!("shiftbook_template_{digest:016x}");
    // The people are the comment of the database: a comment can be read without another connection.
    let found = format!("SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = '{name}'");
    let found = async |connection: &mut PgConnection| -> Option<Option<String>> {
        sqlx::query_scalar(AssertSqlSafe(found.as_str())).fetch_optional(connection).await.unwrap()
    };
    let parsed = |comment: Option<String>| comment.map(|text| People::parse(&text));
    if let Some(comment) = found(connection).await {
        return (name, parsed(comment));
    }
    let key = digest.cast_signed();
    connection.execute(AssertSqlSafe(format!("SELECT pg_advisory_lock({key})"))).await.unwrap();
    let comment = match found(connection).await {
        Some(comment) => comment,
        None => create_postgres(connection, server, &name, content).await,
    };
    connection.execute(AssertSqlSafe(format!("SELECT pg_advisory_unlock({key})"))).await.unwrap();
    (name, parsed(comment))
}

/// Creates a database and returns its comment. It gets its final name when it is complete, so a test that is
/// interrupted leaves no incomplete template.
async fn create_postgres(connection: &mut PgConnection, server: &str, name: &str, content: Content) -> Option<String> {
    let draft = format!("t_{}", uuid::Uuid::from_u128(fastrand::u128(..)).simple());
    connection.execute(AssertSqlSafe(format!("CREATE DATABASE {draft}"))).await.unwrap();
    let engine = Engine::Postgres { url: url_of(server, &draft), server: server.to_owned(), name: draft.clone() };
    let comment = fill(&engine, content).await.map(|people| people.to_text());
    if let Some(comment) = &comment {
        let set = format!("COMMENT ON DATABASE {draft} IS '{comment}'");
        connection.execute(AssertSqlSafe(set)).await.unwrap();
    }
    connection.execute(AssertSqlSafe(format!("ALTER DATABASE {draft} RENAME TO {name}"))).await.unwrap();
    comment
}

/// Returns the path of a SQLite file to copy, and its people if it has any.
pub(crate) async fn sqlite(content: Content) -> (PathBuf, Option<People>) {
    static MIGRATIONS: LazyLock<u64> = LazyLock::new(|| migrations_digest("sqlite"));
    let digest = content.digest(*MIGRATIONS);
    let folder = std::env::temp_dir().join(format!("shiftbook_template_{digest:016x}"));
    if !folder.exists() {
        let draft = tempfile::tempdir().unwrap();
        let people = draft.path().join(PEOPLE_FILE);
        let engine = Engine::Sqlite(draft);
        if let Some(made) = fill(&engine, content).await {
            fs::write(people, made.to_text()).unwrap();
        }
        let Engine::Sqlite(draft) = engine else { unreachable!() };
        // Other tests may do the same at this moment: the first one to rename wins.
        if let Err(error) = fs::rename(draft.path(), &folder) {
            assert!(folder.exists(), "{error}");
        }
    }
    let people = (content == Content::People).then(|| fs::read_to_string(folder.join(PEOPLE_FILE)).unwrap());
    (folder.join(SQLITE_FILE), people.map(|text| People::parse(&text)))
}

/// Migrates an empty database and adds what the template is to have.
async fn fill(engine: &Engine, content: Content) -> Option<People> {
    if content == Content::People {
        return Some(People::create(engine).await);
    }
    store::Store::open(&engine.database(), store::Mode::Tool).await.unwrap().close().await;
    None
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
