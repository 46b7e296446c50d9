//! Opens a PostgreSQL database: its settings, its migrations and its pool.

use super::store::{Db, Inner, Mode, NOTICES_MAX, ReadCounters, Store};
use crate::{
    engine::{
        Access, Error, Mode::Write, POSTGRES_TRUSTED, Result, Texts, in_transaction, migration, spawn_with_timeout,
    },
    event::Notifier,
    feedback::FeedbackBackend,
    writer::Writer,
};
use sqlx::{
    ConnectOptions as _, PgPool,
    migrate::MigrateError,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use std::{
    str::FromStr,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::broadcast;

/// Most connections of one process to PostgreSQL.
const POSTGRES_CONNECTIONS_MAX: u32 = 16;
/// Longest wait for a connection of the pool.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(2_500);
/// The PostgreSQL settings that acknowledged writes depend on.
const POSTGRES_DURABILITY: &str =
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes')";

/// A table of 128 KiB. Its rows are too short for compression.
const CREATE_GROWTH_PROBE: &str =
    "CREATE TABLE growth_probe AS SELECT repeat('x', 1000) AS content FROM generate_series(1, 128)";
const DROP_GROWTH_PROBE: &str = "DROP TABLE growth_probe";

pub(crate) const POSTGRES_SQL: Texts = &[
    ("open::postgres::POSTGRES_DURABILITY", POSTGRES_DURABILITY),
    ("open::postgres::CREATE_GROWTH_PROBE", CREATE_GROWTH_PROBE),
    ("open::postgres::DROP_GROWTH_PROBE", DROP_GROWTH_PROBE),
];

impl Store {
    pub(super) async fn open_postgres(url: &str, accept_data_loss: bool, mode: Mode) -> Result<Self> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|e| Error::Unavailable(format!("the database URL is not valid: {e}")))?
            .application_name("shiftbook")
            // Statements are never logged: they would carry content.
            .disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(POSTGRES_CONNECTIONS_MAX)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // A connection that was in use a moment ago is there; asking would cost every transaction a round trip.
            .test_before_acquire(false)
            .before_acquire(|connection, used| {
                Box::pin(async move {
                    if used.idle_for > POSTGRES_TRUSTED {
                        sqlx::Connection::ping(connection).await?;
                    }
                    Ok(true)
                })
            })
            .connect_with(options)
            .await?;
        if !accept_data_loss && mode != Mode::Reader {
            check_postgres_durability(&pool).await?;
        }
        if mode != Mode::Reader {
            migration::postgres().run(&pool).await.map_err(of_migration)?;
        }
        let notices = broadcast::Sender::new(NOTICES_MAX);
        let notifier = Notifier::start(pool.clone(), notices.clone());
        let sink = (notices.clone(), notifier.clone());
        Ok(Self(Arc::new(Inner {
            writer: Writer::postgres(pool.clone(), sink.0, sink.1),
            feedback: FeedbackBackend::Postgres(pool.clone()),
            db: Db::Postgres(pool),
            notices,
            notifier: Some(notifier),
            data_dir: None,
            reads: ReadCounters::default(),
            lock: Mutex::new(None),
        })))
    }
}

fn of_migration(error: MigrateError) -> Error {
    let text = format!("migration failed: {error}");
    match error {
        MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _) => match Error::from(cause) {
            Error::Unavailable(cause) => Error::Unavailable(format!("migration failed: {cause}")),
            _ => Error::Database(text),
        },
        _ => Error::Database(text),
    }
}

/// Writes a table and removes it, to test whether the database can grow: an update of a row may find room in a page
/// that exists. Needs the rights of the tables' owner, as the creation of partitions does.
pub(super) async fn check_growth(pool: &PgPool) -> Result<()> {
    let pool = pool.clone();
    spawn_with_timeout(async move {
        in_transaction(&pool, Access::Retention, Write, async |connection| {
            sqlx::query(CREATE_GROWTH_PROBE).execute(&mut *connection).await?;
            sqlx::query(DROP_GROWTH_PROBE).execute(&mut *connection).await?;
            Ok(())
        })
        .await
    })
    .await
}

async fn check_postgres_durability(pool: &PgPool) -> Result<()> {
    let settings: Vec<(String, String)> = sqlx::query_as(POSTGRES_DURABILITY).fetch_all(pool).await?;
    let unsafe_ones: Vec<_> = settings.into_iter().filter(|(_, value)| value == "off").map(|(name, _)| name).collect();
    if unsafe_ones.is_empty() {
        return Ok(());
    }
    Err(Error::Unavailable(format!(
        "PostgreSQL would lose acknowledged writes in a power cut: {} off; turn on, or start with --i-accept-data-loss",
        unsafe_ones.join(", ")
    )))
}
