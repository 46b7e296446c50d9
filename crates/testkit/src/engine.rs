//! A temporary database on either engine, and direct connections to it that bypass the product.

use crate::{
    people::People,
    template::{self, Content, SQLITE_FILE, url_of},
};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _, SqliteConnection};
use std::{
    fs,
    path::{Path, PathBuf},
};
use store::Database;
use tempfile::TempDir;

/// Environment variable with the URL of the PostgreSQL server for tests; `cargo xtask test` starts one and sets it.
const POSTGRES_URL: &str = "SHIFTBOOK_TEST_POSTGRES_URL";

/// A database for one test.
pub enum Engine {
    /// A file in a temporary directory.
    Sqlite(TempDir),
    /// A database of its own on the test server.
    Postgres {
        /// URL of the database.
        url: String,
        /// URL of the server.
        server: String,
        /// Name of the database.
        name: String,
    },
}

/// A connection that bypasses the product.
pub enum Raw {
    /// A connection to the SQLite file.
    Sqlite(SqliteConnection),
    /// A connection to PostgreSQL as superuser.
    Postgres(PgConnection),
}

impl Raw {
    /// Opens another connection to a SQLite file.
    pub async fn of_sqlite(file: &Path) -> Self {
        let url = format!("sqlite://{}", file.display());
        Self::Sqlite(SqliteConnection::connect(&url).await.unwrap())
    }

    /// Creates a SQLite file, and opens a connection to it.
    pub async fn create_sqlite(file: &Path) -> Self {
        let url = format!("sqlite://{}?mode=rwc", file.display());
        Self::Sqlite(SqliteConnection::connect(&url).await.unwrap())
    }

    /// Runs SQL. Returns the number of changed rows, or the error of the database.
    pub async fn execute(&mut self, sql: &str) -> Result<u64, sqlx::Error> {
        match self {
            Self::Sqlite(c) => sqlx::raw_sql(AssertSqlSafe(sql)).execute(c).await.map(|done| done.rows_affected()),
            Self::Postgres(c) => sqlx::raw_sql(AssertSqlSafe(sql)).execute(c).await.map(|done| done.rows_affected()),
        }
    }

    /// Publishes a view of a workspace with a hostile title, in a SQLite file. Returns its id.
    pub async fn publish_view(&mut self, tenant: &str, slug: &str, publish_config: &str, fields: &str) -> uuid::Uuid {
        let id = uuid::Uuid::from_u128(fastrand::u128(..));
        let text = |json: &str| format!("'{}'", json.replace('\'', "''"));
        let (fields, config, view) = (text(fields), text(publish_config), format!("x'{}'", id.simple()));
        let of_tenant = format!("(SELECT id FROM tenants WHERE slug = '{tenant}')");
        let working_copy = format!(
            "INSERT INTO views (tenant_id, id, slug, title, introduction, fields, publish_config, state, version, \
             revision, published_revision, listed, created_by, updated_by, created_at, updated_at) VALUES \
             ({of_tenant}, {view}, '{slug}', 'Check <b>', 'Hello', {fields}, {config}, 'published', 1, 1, 1, 1, \
             'system', 'system', 0, 0)"
        );
        let version = format!(
            "INSERT INTO view_versions (tenant_id, view_id, version, title, introduction, fields, publish_config, \
             published_by, published_at) VALUES ({of_tenant}, {view}, 1, 'Check <b>', 'Hello', {fields}, {config}, \
             'system', 0)"
        );
        for row in [working_copy, version] {
            self.execute(&row).await.unwrap();
        }
        id
    }

    /// Lets a link of a SQLite database expire.
    pub async fn expire_view_link(&mut self, id: uuid::Uuid) {
        let update = format!("UPDATE view_links SET expires_at = 1 WHERE id = x'{}'", id.simple());
        assert_eq!(self.execute(&update).await.unwrap(), 1);
    }

    /// Changes the audit entries of a SQLite database with this number, without the trigger that refuses it.
    pub async fn forge_audit_entry(&mut self, sequence: u64) {
        self.execute("DROP TRIGGER audit_entries_no_update").await.unwrap();
        let update = format!("UPDATE audit_entries SET detail = '{{\"forged\":1}}' WHERE sequence = {sequence}");
        assert!(self.execute(&update).await.unwrap() > 0);
    }

    /// Ends the leases of memory writers that a killed server has left, as if their time were over.
    pub async fn end_writer_leases(&mut self) {
        self.execute("UPDATE memory_writers SET lease_until = 0 WHERE owner IS NOT NULL").await.unwrap();
    }

    /// Runs a query that returns one number.
    pub async fn number(&mut self, sql: &str) -> i64 {
        match self {
            Self::Sqlite(c) => sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(c).await.unwrap(),
            Self::Postgres(c) => sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(c).await.unwrap(),
        }
    }

    /// Runs a query and returns the first column of every row, as text.
    pub async fn texts(&mut self, sql: &str) -> Vec<String> {
        match self {
            Self::Sqlite(c) => sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(c).await.unwrap(),
            Self::Postgres(c) => sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(c).await.unwrap(),
        }
    }

    /// Every row of a SQLite file as `table: values`, without these tables and columns.
    pub async fn everything_but(&mut self, tables: &[&str], columns: &[&str]) -> Vec<String> {
        let names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' \
             AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name";
        let mut all = Vec::new();
        for table in self.texts(names).await.into_iter().filter(|table| !tables.contains(&table.as_str())) {
            let kept = self.texts(&format!("SELECT name FROM pragma_table_info('{table}')")).await;
            let kept = kept.iter().filter(|name| !columns.contains(&name.as_str()));
            let quoted: Vec<_> = kept.map(|name| format!("quote({name})")).collect();
            let rows = format!("SELECT {} FROM {table} ORDER BY 1", quoted.join(" || ', ' || "));
            all.extend(self.texts(&rows).await.into_iter().map(|row| format!("{table}: {row}")));
        }
        all
    }

    /// Whether an import or an export runs.
    pub async fn runs_jobs(&mut self) -> bool {
        let running = "SELECT state FROM export_jobs WHERE state = 'running' \
             UNION ALL SELECT status FROM entity_imports WHERE status = 'running'";
        !self.texts(running).await.is_empty()
    }

    /// The steps of SQLite's plan for a statement.
    pub async fn sqlite_plan(&mut self, sql: &str) -> Vec<String> {
        let Self::Sqlite(c) = self else { panic!("not SQLite") };
        let rows = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"))).fetch_all(c).await.unwrap();
        rows.iter().map(|row| row.get("detail")).collect()
    }

    /// Begins a transaction that keeps the present state of a SQLite file, until this connection is dropped.
    pub async fn begin_reading(&mut self) {
        self.execute("BEGIN").await.unwrap();
        assert!(self.number("SELECT COUNT(*) FROM users").await > 0);
    }

    /// Prepares a statement without running it.
    pub async fn prepare(&mut self, sql: &str) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(c) => c.prepare(AssertSqlSafe(sql).into_sql()).await.map(|_| ()),
            Self::Postgres(c) => c.prepare(AssertSqlSafe(sql).into_sql()).await.map(|_| ()),
        }
    }
}

/// Converts SQL to `AssertSqlSafe` as the type that `prepare` takes.
trait IntoSql {
    fn into_sql(self) -> sqlx::SqlStr;
}

impl IntoSql for AssertSqlSafe<&str> {
    fn into_sql(self) -> sqlx::SqlStr {
        sqlx::SqlSafeStr::into_sql_str(AssertSqlSafe(self.0.to_owned()))
    }
}

impl Engine {
    /// Creates a directory with a migrated SQLite file.
    pub async fn sqlite() -> Self {
        Self::sqlite_with(Content::Migrated).await.0
    }

    /// The same with the people of a fixture.
    pub(crate) async fn sqlite_with_people() -> (Self, People) {
        let (engine, people) = Self::sqlite_with(Content::People).await;
        (engine, people.unwrap())
    }

    async fn sqlite_with(content: Content) -> (Self, Option<People>) {
        let dir = tempfile::tempdir().unwrap();
        let (file, people) = template::sqlite(content).await;
        fs::copy(file, dir.path().join(SQLITE_FILE)).unwrap();
        (Self::Sqlite(dir), people)
    }

    /// Creates a directory with this SQLite file.
    pub fn sqlite_of(file: &[u8]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(SQLITE_FILE), file).unwrap();
        Self::Sqlite(dir)
    }

    /// Creates a database on the test server with what this SQL of `pg_dump` makes.
    pub async fn postgres_of(sql: &str) -> Self {
        // The roles that the SQL names are made with the first migrated database of a server.
        let engine = Self::postgres().await;
        let Self::Postgres { server, name, .. } = &engine else { unreachable!() };
        let mut connection = PgConnection::connect(server).await.unwrap();
        connection.execute(AssertSqlSafe(format!("DROP DATABASE {name}"))).await.unwrap();
        connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
        engine.raw().await.execute(sql).await.unwrap();
        engine
    }

    /// Creates a migrated database on the test server.
    ///
    /// # Panics
    /// If there is no test server. Skipping the tests would leave half of the contract untested without a failure.
    pub async fn postgres() -> Self {
        Self::postgres_with(Content::Migrated).await.0
    }

    /// The same with the people of a fixture.
    pub(crate) async fn postgres_with_people() -> (Self, People) {
        let (engine, people) = Self::postgres_with(Content::People).await;
        (engine, people.unwrap())
    }

    async fn postgres_with(content: Content) -> (Self, Option<People>) {
        let server = std::env::var(POSTGRES_URL).unwrap_or_else(|_| {
            panic!("{POSTGRES_URL} is not set: run `cargo xtask test`, or start a PostgreSQL and set it")
        });
        let name = format!("t_{}", uuid::Uuid::from_u128(fastrand::u128(..)).simple());
        let mut connection = PgConnection::connect(&server).await.unwrap();
        let (template, people) = template::postgres(&mut connection, &server, content).await;
        let copy = format!("CREATE DATABASE {name} TEMPLATE {template}");
        connection.execute(AssertSqlSafe(copy)).await.unwrap();
        (Self::Postgres { url: url_of(&server, &name), server, name }, people)
    }

    /// Returns the database in the form in which the ledger opens it.
    pub fn database(&self) -> Database {
        match self {
            Self::Sqlite(dir) => Database::Sqlite { data_dir: dir.path().to_owned() },
            // A test server may run without fsync.
            Self::Postgres { url, .. } => Database::Postgres { url: url.clone(), accept_data_loss: true },
        }
    }

    /// Path of the SQLite file; `None` on PostgreSQL.
    pub fn file(&self) -> Option<PathBuf> {
        match self {
            Self::Sqlite(dir) => Some(dir.path().join(SQLITE_FILE)),
            Self::Postgres { .. } => None,
        }
    }

    /// Opens a connection to the ratings. On SQLite they have their own file, which must exist.
    pub async fn raw_feedback(&self) -> Raw {
        match self {
            Self::Sqlite(dir) => {
                let url = format!("sqlite://{}", dir.path().join("session_feedback.sqlite3").display());
                Raw::Sqlite(SqliteConnection::connect(&url).await.unwrap())
            }
            Self::Postgres { .. } => self.raw().await,
        }
    }

    /// Name of the table of ratings on the connection of [`Engine::raw_feedback`].
    pub const fn feedback_table(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "session_feedback",
            Self::Postgres { .. } => "session_feedback.session_feedback",
        }
    }

    /// Opens a connection that bypasses the product.
    pub async fn raw(&self) -> Raw {
        match self {
            Self::Sqlite(dir) => {
                let url = format!("sqlite://{}", dir.path().join(SQLITE_FILE).display());
                Raw::Sqlite(SqliteConnection::connect(&url).await.unwrap())
            }
            Self::Postgres { url, .. } => Raw::Postgres(PgConnection::connect(url).await.unwrap()),
        }
    }

    /// Drops the database.
    pub async fn discard(self) {
        if let Self::Postgres { server, name, .. } = self {
            let mut connection = PgConnection::connect(&server).await.unwrap();
            connection.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))).await.unwrap();
        }
    }
}
