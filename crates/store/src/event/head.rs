//! The part of a session row that an append reads and advances.

use super::{NewRow, bind_rows, insert_postgres, insert_sqlite};
use crate::engine::{Conn, SqliteConnection, record, spanned, statements};
use domain::{
    Timestamp,
    chain::Digest,
    clock::{from_micros, to_micros},
    id::{SessionId, TenantId, UserId},
    session::{Session, Status, Type},
};
use sqlx::{AssertSqlSafe, PgConnection};
use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};
use uuid::Uuid;

statements! {
    // One row at a time on SQLite: a statement of many rows would make and fill a table of its own first.
    const READ_SQLITE: &str = "SELECT tenant_id, id, status, session_type, attempt, attempts_max, user_id, head_sequence, \
         head_digest, updated_at FROM sessions WHERE tenant_id = $1 AND id = $2";
    const LOCK_POSTGRES: &str = "SELECT s.tenant_id, s.id, s.status, s.session_type, s.attempt, s.attempts_max, \
         s.user_id, s.head_sequence, s.head_digest, s.updated_at FROM sessions s \
         WHERE s.tenant_id = $1 AND s.id = ANY($2) ORDER BY s.id FOR NO KEY UPDATE";
    const HELD_POSTGRES: &str = "WITH free AS MATERIALIZED (SELECT f.id FROM sessions f WHERE f.tenant_id = $1 AND f.id = ANY($2) \
         ORDER BY f.id FOR NO KEY UPDATE SKIP LOCKED) \
         SELECT s.id FROM sessions s WHERE s.tenant_id = $1 AND s.id = ANY($2) AND s.id NOT IN (SELECT id FROM free)";
    const UPDATE_SQLITE: &str = "UPDATE OR FAIL sessions SET head_sequence = $3, head_digest = $4, updated_at = $5 \
         WHERE tenant_id = $1 AND id = $2";
}

const UPDATE_POSTGRES: &str = "UPDATE sessions SET head_sequence = moved.head_sequence, \
     head_digest = moved.head_digest, updated_at = moved.updated_at \
     FROM UNNEST($1::uuid[], $2::uuid[], $3::bigint[], $4::bytea[], $5::bigint[]) \
     AS moved (tenant_id, id, head_sequence, head_digest, updated_at) \
     WHERE sessions.tenant_id = moved.tenant_id AND sessions.id = moved.id";

/// Events and heads in one statement: each round trip to the database costs as much as the work it asks for.
static APPEND_POSTGRES: LazyLock<String> =
    LazyLock::new(|| format!("WITH written AS ({}) {UPDATE_POSTGRES}", insert_postgres(6)));

pub(super) fn made() -> Vec<(&'static str, String)> {
    vec![("event::head::APPEND_POSTGRES", APPEND_POSTGRES.clone())]
}

/// The newest sequence and digest of a session's log, and the columns that decide who may write to it.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) tenant_id: TenantId,
    pub(crate) id: SessionId,
    pub(crate) status: Status,
    pub(crate) session_type: Type,
    pub(crate) attempt: u32,
    pub(crate) attempts_max: u32,
    pub(crate) user_id: Option<UserId>,
    pub(crate) head_sequence: u64,
    pub(crate) head_digest: Digest,
    pub(crate) updated_at: Timestamp,
    /// Whether this transaction advanced the head.
    pub(crate) moved: bool,
}

impl Head {
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            tenant_id: session.tenant_id,
            id: session.id,
            status: session.status(),
            session_type: session.session_type,
            attempt: session.attempt,
            attempts_max: session.attempts_max,
            user_id: session.user_id,
            head_sequence: session.head_sequence,
            head_digest: session.head_digest,
            updated_at: session.updated_at,
            moved: false,
        }
    }
}

record! {
    struct HeadRow of "sessions" {
        tenant_id: Uuid,
        id: Uuid,
        status: String,
        session_type: String,
        attempt: i64,
        attempts_max: i64,
        user_id: Option<Uuid>,
        head_sequence: i64,
        head_digest: Vec<u8>,
        updated_at: i64,
    }
}

impl HeadRow {
    /// The head; `None` for a row with invalid values, which accepts no appends.
    fn into_head(self) -> Option<Head> {
        Some(Head {
            tenant_id: TenantId(self.tenant_id),
            id: SessionId(self.id),
            status: Status::parse(&self.status)?,
            session_type: Type::parse(&self.session_type)?,
            attempt: u32::try_from(self.attempt).ok()?,
            attempts_max: u32::try_from(self.attempts_max).ok()?,
            user_id: self.user_id.map(UserId),
            head_sequence: u64::try_from(self.head_sequence).ok()?,
            head_digest: Digest::from_slice(&self.head_digest)?,
            updated_at: from_micros(self.updated_at),
            moved: false,
        })
    }
}

/// Reads the heads of these sessions; on PostgreSQL locks their rows in id order, so that no two groups deadlock.
pub(crate) async fn lock_heads(
    conn: &mut Conn<'_>,
    wanted: impl Iterator<Item = (TenantId, SessionId)>,
) -> Result<HashMap<(TenantId, SessionId), Head>, sqlx::Error> {
    let mut wanted: Vec<_> = wanted.collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut rows: Vec<HeadRow> = Vec::with_capacity(wanted.len());
    match conn {
        Conn::Sqlite(c) => {
            for (tenant_id, id) in &wanted {
                let head = spanned!(
                    READ_SQLITE,
                    fetch_optional,
                    c.fetch_optional::<HeadRow>(READ_SQLITE, &[&tenant_id.0, &id.0])
                )?;
                rows.extend(head);
            }
        }
        Conn::Postgres(c) => {
            // The writer's transactions hold one workspace each.
            let Some((tenant_id, _)) = wanted.first() else { return Ok(HashMap::new()) };
            let ids: Vec<Uuid> = wanted.iter().map(|(_, id)| id.0).collect();
            let query = sqlx::query_as(LOCK_POSTGRES).bind(tenant_id.0).bind(ids);
            rows = spanned!(LOCK_POSTGRES, fetch_all, query.fetch_all(&mut **c).await)?;
        }
    }
    Ok(rows.into_iter().filter_map(HeadRow::into_head).map(|head| ((head.tenant_id, head.id), head)).collect())
}

/// Locks those of the sessions that are not locked. Returns the ones that another transaction holds.
pub(crate) async fn lock_free(
    connection: &mut PgConnection,
    tenant_id: TenantId,
    wanted: &[SessionId],
) -> Result<HashSet<SessionId>, sqlx::Error> {
    let wanted: Vec<Uuid> = wanted.iter().map(|id| id.0).collect();
    let held: Vec<Uuid> =
        sqlx::query_scalar(HELD_POSTGRES).bind(tenant_id.0).bind(wanted).fetch_all(connection).await?;
    Ok(held.into_iter().map(SessionId).collect())
}

/// Inserts events and writes the heads that they advanced.
pub(crate) async fn write(conn: &mut Conn<'_>, rows: &[NewRow], heads: &[&Head]) -> Result<(), sqlx::Error> {
    if rows.is_empty() {
        return Ok(());
    }
    match conn {
        Conn::Sqlite(c) => {
            insert_sqlite(c, rows)?;
            update_sqlite(c, heads)
        }
        Conn::Postgres(c) => {
            let query = sqlx::query(AssertSqlSafe(APPEND_POSTGRES.as_str()))
                .bind(heads.iter().map(|h| h.tenant_id.0).collect::<Vec<_>>())
                .bind(heads.iter().map(|h| h.id.0).collect::<Vec<_>>())
                .bind(heads.iter().map(|h| h.head_sequence.cast_signed()).collect::<Vec<_>>())
                .bind(heads.iter().map(|h| &h.head_digest.0[..]).collect::<Vec<_>>())
                .bind(heads.iter().map(|h| to_micros(h.updated_at)).collect::<Vec<_>>());
            let query = bind_rows(query, rows);
            spanned!(APPEND_POSTGRES, execute, query.execute(&mut **c).await.map(|done| done.rows_affected()))?;
            Ok(())
        }
    }
}

fn update_sqlite(c: &mut SqliteConnection, heads: &[&Head]) -> Result<(), sqlx::Error> {
    for head in heads {
        let (sequence, updated_at) = (head.head_sequence.cast_signed(), to_micros(head.updated_at));
        let binds: [&dyn rusqlite::ToSql; 5] =
            [&head.tenant_id.0, &head.id.0, &sequence, &head.head_digest.0, &updated_at];
        spanned!(UPDATE_SQLITE, execute, c.execute(UPDATE_SQLITE, &binds))?;
    }
    Ok(())
}
