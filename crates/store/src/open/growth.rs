//! Tests whether a PostgreSQL database can grow.

use crate::engine::{Access, Mode::Write, Result, in_transaction, spawn_with_timeout, statements};
use sqlx::PgPool;

statements! {
    /// A table of 128 KiB. Its rows are too short for compression.
    const CREATE_GROWTH_PROBE_POSTGRES: &str =
        "CREATE TABLE growth_probe AS SELECT repeat('x', 1000) AS content FROM generate_series(1, 128)";
    const DROP_GROWTH_PROBE_POSTGRES: &str = "DROP TABLE growth_probe";
}

/// Writes a table and removes it, to test whether the database can grow: an update of a row may find room in a page
/// that exists. Needs the rights of the tables' owner, as the creation of partitions does.
pub(super) async fn check_growth(pool: &PgPool) -> Result<()> {
    let pool = pool.clone();
    spawn_with_timeout(async move {
        in_transaction(&pool, Access::Retention, Write, async |connection| {
            sqlx::query(CREATE_GROWTH_PROBE_POSTGRES).execute(&mut *connection).await?;
            sqlx::query(DROP_GROWTH_PROBE_POSTGRES).execute(&mut *connection).await?;
            Ok(())
        })
        .await
    })
    .await
}
