//! Inserts rows of `session_events`.

use crate::engine::{CHUNKS, Conn, SqliteConnection, chunks, spanned, values_statements};
use domain::{clock::to_micros, event::Event, id::TenantId};
use rusqlite::ToSql;
use sqlx::AssertSqlSafe;
use std::sync::LazyLock;
use uuid::Uuid;

const COLUMNS: usize = 16;
const INTO: &str = "INTO session_events (tenant_id, session_id, sequence, event_id, event_type, role, content, \
     metadata, thread_id, external_event_id, attempt, actor, at, recorded_at, body_digest, digest)";
/// `OR FAIL`: the caller rolls all of its inserts back when one is refused. So SQLite need not be able to
/// undo one statement, for which it would copy each page before a change.
static INSERT_SQLITE: LazyLock<[String; CHUNKS.len()]> =
    LazyLock::new(|| values_statements(&format!("INSERT OR FAIL {INTO} VALUES"), COLUMNS));
static INSERT_POSTGRES: LazyLock<String> = LazyLock::new(|| insert_postgres(1));

/// All rows in one statement, its binds counted from `first`.
pub(crate) fn insert_postgres(first: usize) -> String {
    let columns = [
        "uuid", "uuid", "bigint", "uuid", "text", "text", "text", "text", "text", "text", "bigint", "text", "bigint",
        "bigint", "bytea", "bytea",
    ];
    let arrays: Vec<_> =
        columns.iter().enumerate().map(|(place, kind)| format!("${}::{kind}[]", first + place)).collect();
    format!("INSERT {INTO} SELECT * FROM UNNEST({})", arrays.join(", "))
}

pub(super) fn made() -> Vec<(&'static str, String)> {
    let on_sqlite = INSERT_SQLITE.iter().map(|text| ("event::insert::INSERT_SQLITE", text.clone()));
    on_sqlite.chain([("event::insert::INSERT_POSTGRES", INSERT_POSTGRES.clone())]).collect()
}

/// A row about to be inserted.
#[derive(Debug, Clone)]
pub(crate) struct NewRow {
    pub(crate) tenant_id: TenantId,
    pub(crate) record: Event,
}

/// Columns of a row that are not stored as they are.
struct Figures {
    sequence: i64,
    role: &'static str,
    attempt: Option<i64>,
    at: i64,
    recorded_at: i64,
}

impl Figures {
    fn of(row: &NewRow) -> Self {
        let r = &row.record;
        Self {
            sequence: r.sequence.cast_signed(),
            role: r.role.as_str(),
            attempt: r.attempt.map(i64::from),
            at: to_micros(r.at),
            recorded_at: to_micros(r.recorded_at),
        }
    }
}

/// Inserts rows: multi-row statements on SQLite, one UNNEST on PostgreSQL.
pub(crate) async fn insert(conn: &mut Conn<'_>, rows: &[NewRow]) -> std::result::Result<(), sqlx::Error> {
    if rows.is_empty() {
        return Ok(());
    }
    match conn {
        Conn::Sqlite(c) => insert_sqlite(c, rows),
        Conn::Postgres(c) => {
            let query = bind_rows(sqlx::query(AssertSqlSafe(INSERT_POSTGRES.as_str())), rows);
            spanned!(INSERT_POSTGRES, execute, query.execute(&mut **c).await.map(|done| done.rows_affected()))?;
            Ok(())
        }
    }
}

pub(crate) fn insert_sqlite(c: &mut SqliteConnection, rows: &[NewRow]) -> std::result::Result<(), sqlx::Error> {
    for (index, from, to) in chunks(rows.len()) {
        let figures: Vec<_> = rows[from..to].iter().map(Figures::of).collect();
        let mut binds: Vec<&dyn ToSql> = Vec::with_capacity(figures.len() * COLUMNS);
        for (row, figures) in rows[from..to].iter().zip(&figures) {
            let r = &row.record;
            binds.extend([&row.tenant_id.0 as &dyn ToSql, &r.session_id.0, &figures.sequence, &r.id.0]);
            binds.extend([&r.kind as &dyn ToSql, &figures.role, &r.content, &r.metadata]);
            binds.extend([&r.thread_id as &dyn ToSql, &r.external_event_id, &figures.attempt, &r.actor]);
            binds.extend([&figures.at as &dyn ToSql, &figures.recorded_at, &r.body.0, &r.digest.0]);
        }
        spanned!(INSERT_SQLITE, execute, c.execute(&INSERT_SQLITE[index], &binds))?;
    }
    Ok(())
}

/// A PostgreSQL statement that is being bound.
pub(crate) type PgQuery<'q> = sqlx::query::Query<'q, sqlx::Postgres, sqlx::postgres::PgArguments>;

/// Binds what [`insert_postgres`] asks for.
pub(crate) fn bind_rows<'q>(query: PgQuery<'q>, rows: &[NewRow]) -> PgQuery<'q> {
    let column = |f: fn(&NewRow) -> Uuid| rows.iter().map(f).collect::<Vec<_>>();
    let number = |f: fn(&NewRow) -> i64| rows.iter().map(f).collect::<Vec<_>>();
    query
        .bind(column(|r| r.tenant_id.0))
        .bind(column(|r| r.record.session_id.0))
        .bind(number(|r| r.record.sequence.cast_signed()))
        .bind(column(|r| r.record.id.0))
        .bind(rows.iter().map(|r| r.record.kind.as_str()).collect::<Vec<_>>())
        .bind(rows.iter().map(|r| r.record.role.as_str()).collect::<Vec<_>>())
        .bind(rows.iter().map(|r| r.record.content.as_str()).collect::<Vec<_>>())
        .bind(rows.iter().map(|r| r.record.metadata.as_str()).collect::<Vec<_>>())
        .bind(rows.iter().map(|r| r.record.thread_id.as_deref()).collect::<Vec<_>>())
        .bind(rows.iter().map(|r| r.record.external_event_id.as_deref()).collect::<Vec<_>>())
        .bind(rows.iter().map(|r| r.record.attempt.map(i64::from)).collect::<Vec<_>>())
        .bind(rows.iter().map(|r| r.record.actor.as_str()).collect::<Vec<_>>())
        .bind(number(|r| to_micros(r.record.at)))
        .bind(number(|r| to_micros(r.record.recorded_at)))
        .bind(rows.iter().map(|r| &r.record.body.0[..]).collect::<Vec<_>>())
        .bind(rows.iter().map(|r| &r.record.digest.0[..]).collect::<Vec<_>>())
}
