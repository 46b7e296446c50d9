//! Opens a PostgreSQL database: its settings, its migrations and its pool.

use super::store::{Db, Inner, Mode, NOTICES_MAX, ReadCounters, Store};
use crate::{
    engine::{Error, POSTGRES_TRUSTED, Result, migration, statements},
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

statements! {
    /// The PostgreSQL settings that acknowledged writes depend on.
    const DURABILITY_POSTGRES: &str =
        "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes')";
}

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
            feedback: FeedbackBackend::postgres(pool.clone()),
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
    let (cause, failed) = match error {
        MigrateError::Execute(cause) => (cause, "migration failed".to_owned()),
        MigrateError::ExecuteMigration(cause, version) => (cause, format!("migration {version} failed")),
        other => return Error::Database(format!("migration failed: {other}")),
    };
    match Error::from(cause) {
        Error::Unavailable(cause) => Error::Unavailable(format!("{failed}: {cause}")),
        cause => Error::Database(format!("{failed}: {cause}")),
    }
}

async fn check_postgres_durability(pool: &PgPool) -> Result<()> {
    let settings: Vec<(String, String)> = sqlx::query_as(DURABILITY_POSTGRES).fetch_all(pool).await?;
    let unsafe_ones: Vec<_> = settings.into_iter().filter(|(_, value)| value == "off").map(|(name, _)| name).collect();
    if unsafe_ones.is_empty() {
        return Ok(());
    }
    Err(Error::Unavailable(format!(
        "PostgreSQL would lose acknowledged writes in a power cut: {} off; turn on, or start with --i-accept-data-loss",
        unsafe_ones.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Coded;

    #[test]
    fn a_migration_that_a_pooler_fails_says_what_helps() {
        for wrap in [MigrateError::Execute, |cause| MigrateError::ExecuteMigration(cause, 7)] {
            let error = of_migration(wrap(sqlx::Error::Database(Box::new(Coded("42P05")))));
            let Error::Unavailable(text) = error else { panic!("{error:?}") };
            assert!(text.starts_with("migration ") && text.contains("PgBouncer 1.21 or newer"), "{text}");
        }
    }
}
