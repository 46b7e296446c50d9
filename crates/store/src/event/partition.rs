//! Monthly partitions of `session_events` on PostgreSQL.
//!
//! Session ids are UUIDv7, so a range of ids is a range of time. The events of a month of sessions are one
//! table, which can be moved or dropped as a whole. Rows outside of all months go to the default partition.

use crate::engine::{Access, Error, Mode, Result, in_transaction, spawn_with_timeout};
use domain::Timestamp;
use sqlx::{AssertSqlSafe, PgPool};
use uuid::{Builder, Uuid};

/// Number of months for which partitions are created, including the current one.
const MONTHS_AHEAD: u32 = 3;

/// Creates the missing partitions of this month and the following ones. What could not be created is logged and left
/// to the next call.
pub(crate) async fn ensure(pool: &PgPool, now: Timestamp) -> Result<()> {
    for ahead in 0..MONTHS_AHEAD {
        let (name, from, to) = month(now, ahead);
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS session_events_{name} PARTITION OF session_events FOR VALUES FROM ('{from}') TO ('{to}')"
        );
        if let Err(error) = create(pool.clone(), sql).await {
            // Another server made it meanwhile, the default partition has rows of this month, which stay there, or a
            // long read such as a dump holds the table.
            tracing::warn!(%error, month = name, "the partition of this month was not created; it is tried again later");
            if matches!(error, Error::Unavailable(_)) {
                // Another try would wait for the same lock, and appends behind it.
                break;
            }
        }
    }
    Ok(())
}

/// Runs a statement that creates a partition. It needs the table to itself, which a running `pg_dump` refuses it, and
/// every statement on the table that comes later waits behind it. So it gives up after a second.
async fn create(pool: PgPool, sql: String) -> Result<()> {
    spawn_with_timeout(async move {
        in_transaction(&pool, Access::Retention, Mode::Partition, async |connection| {
            sqlx::query(AssertSqlSafe(sql)).execute(&mut *connection).await?;
            Ok(())
        })
        .await
    })
    .await
}

/// Name and id range of the month that is `ahead` months after now.
fn month(now: Timestamp, ahead: u32) -> (String, Uuid, Uuid) {
    let start = |months: u32| {
        let text = now.format("%Y-%m-01T00:00:00Z").to_string();
        let first: Timestamp = text.parse().unwrap_or(now);
        first + domain::clock::Months::new(months)
    };
    let (from, to) = (start(ahead), start(ahead + 1));
    (from.format("y%Ym%m").to_string(), first_id(from), first_id(to))
}

/// A lower bound of all UUIDv7 ids of an instant.
fn first_id(at: Timestamp) -> Uuid {
    let millis = u64::try_from(at.timestamp_millis()).unwrap_or_default();
    let mut bytes = *Builder::from_unix_timestamp_millis(millis, &[0; 10]).as_uuid().as_bytes();
    // Version and variant bits are part of every real id; the bound leaves them out to be below all of them.
    bytes[6..].fill(0);
    Uuid::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_follow_each_other_without_a_gap_over_the_turn_of_the_year() {
        let now: Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
        let months: Vec<_> = (0..3).map(|ahead| month(now, ahead)).collect();
        assert_eq!(months.iter().map(|m| m.0.as_str()).collect::<Vec<_>>(), ["y2026m11", "y2026m12", "y2027m01"]);
        assert!(months.windows(2).all(|pair| pair[0].2 == pair[1].1));
        let id = Builder::from_unix_timestamp_millis(now.timestamp_millis().cast_unsigned(), &[7; 10]).into_uuid();
        assert!(months[0].1 <= id && id < months[0].2);
    }
}
