//! Rows of `sessions`.

mod continuation;
mod due;
mod first_claim;
pub mod graph;
mod head;
mod list;
mod of_entity;
#[cfg(feature = "planted-bugs")]
mod planted;
mod state;

pub use continuation::{newest_continuation, retitle};
pub use due::{extend_lease, leases_lost, overdue, rearm_leases};
pub use first_claim::{ClaimTerms, FirstClaim};
pub(crate) use head::{Head, lock_free, lock_heads, write as write_events};
pub(crate) use list::contains;
pub use list::{Filter, list, list_by_ids, newest_of_action};
pub use of_entity::{OfEntity, list_of_entity};
use state::{Columns, Outcome};

use crate::{
    append::{PreparedEvent, link},
    conn::{Conn, run},
    error::{Error, Result, is_unique_violation},
    event,
    record::SessionRecord,
    sqlite::row,
    transaction::{Notice, WriteTx},
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::{from_micros, to_micros, truncate},
    id::{ActionId, EntityId, SessionId, TenantId, UserId},
    session::{EndReason, Status, Type, WaitsFor},
    working,
};
use sqlx::AssertSqlSafe;
use std::sync::{Arc, LazyLock};
use uuid::Uuid;

macro_rules! session_select {
    ($rest:expr) => {
        concat!(
            "SELECT tenant_id, id, session_type, status, end_reason, action_id, action_slug, agent_slug, user_id, source, entity_id, \
             title, input, metadata, result, usage, error_message, error_code, parent_id, retry_of, created_by, attempt, attempts_max, \
             lease_seconds, lease_expires_at, head_sequence, head_digest, created_at, updated_at, queued_at, started_at, \
             completed_at, time_limits, deadline_at, waits_for, dependency_count, awaited, private_to FROM sessions WHERE ",
            $rest
        )
    };
}
pub(crate) use session_select;

const BY_ID: &str = session_select!("tenant_id = $1 AND id = $2");
const BY_ID_LOCKED_POSTGRES: &str = session_select!("tenant_id = $1 AND id = $2 FOR UPDATE");
const BY_IDEMPOTENCY_KEY: &str = session_select!("tenant_id = $1 AND idempotency_key = $2");
const IDEMPOTENCY_DIGEST: &str =
    "SELECT idempotency_digest FROM sessions WHERE tenant_id = $1 AND idempotency_key = $2";
const DEPTH: &str = "WITH RECURSIVE up (id, parent_id, depth) AS (\
     SELECT id, parent_id, CAST(1 AS bigint) FROM sessions WHERE tenant_id = $1 AND id = $2 \
     UNION ALL SELECT s.id, s.parent_id, up.depth + 1 FROM sessions s JOIN up ON s.id = up.parent_id \
     WHERE s.tenant_id = $1 AND up.depth < 64) SELECT MAX(depth) FROM up";
const INSERT: &str = "INSERT INTO sessions (tenant_id, id, session_type, status, action_id, action_slug, agent_slug, user_id, \
     source, title, input, metadata, parent_id, retry_of, created_by, idempotency_key, idempotency_digest, attempt, \
     attempts_max, head_sequence, head_digest, created_at, updated_at, queued_at, started_at, entity_id, time_limits, deadline_at, \
     waits_for, dependency_count, private_to) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, \
     $25, $26, $27, $28, $29, $30, $31)";
const SAVE: &str = "UPDATE sessions SET status = $3, end_reason = $4, result = $5, usage = $6, error_message = $7, \
     error_code = $8, attempt = $9, lease_seconds = $10, lease_expires_at = $11, head_sequence = $12, head_digest = $13, \
     updated_at = $14, queued_at = $15, started_at = $16, completed_at = $17, deadline_at = $20, waits_for = $21, \
     attempts_max = $22 \
     WHERE tenant_id = $1 AND id = $2 AND status = $18 AND attempt = $19";
const CLAIMABLE_SQLITE: &str =
    session_select!("tenant_id = $1 AND status = 'pending' AND agent_slug = $2 ORDER BY queued_at, id LIMIT $3");
const CLAIMABLE_POSTGRES: &str = session_select!(
    "tenant_id = $1 AND status = 'pending' AND agent_slug = $2 ORDER BY queued_at, id LIMIT $3 FOR UPDATE SKIP LOCKED"
);
const CLAIMABLE_ANY_SQLITE: &str =
    session_select!("tenant_id = $1 AND status = 'pending' ORDER BY queued_at, id LIMIT $2");
const CLAIMABLE_ANY_POSTGRES: &str =
    session_select!("tenant_id = $1 AND status = 'pending' ORDER BY queued_at, id LIMIT $2 FOR UPDATE SKIP LOCKED");
pub(crate) const SQL: &[(&str, &str)] = &[
    ("session::BY_ID", BY_ID),
    ("session::BY_IDEMPOTENCY_KEY", BY_IDEMPOTENCY_KEY),
    ("session::IDEMPOTENCY_DIGEST", IDEMPOTENCY_DIGEST),
    ("session::DEPTH", DEPTH),
    ("session::INSERT", INSERT),
    ("session::SAVE", SAVE),
    ("session::due::EXTEND_LEASE", due::EXTEND_LEASE),
    ("session::due::REARM_LEASES", due::REARM_LEASES),
    ("session::due::LEASES_LOST", due::LEASES_LOST),
    ("session::due::OVERDUE", due::OVERDUE),
    ("session::list::BY_TENANT", list::BY_TENANT),
    ("session::list::BY_STATUS", list::BY_STATUS),
    ("session::list::BY_ACTION", list::BY_ACTION),
    ("session::list::BY_PARENT", list::BY_PARENT),
    ("session::list::BY_RETRIED", list::BY_RETRIED),
    ("session::continuation::NEWEST_CONTINUATION", continuation::NEWEST_CONTINUATION),
    ("session::continuation::RETITLE", continuation::RETITLE),
    ("session::of_entity::BY_ENTITY", of_entity::BY_ENTITY),
];
pub(crate) const SQLITE_SQL: &[(&str, &str)] = &[
    ("session::CLAIMABLE_SQLITE", CLAIMABLE_SQLITE),
    ("session::CLAIMABLE_ANY_SQLITE", CLAIMABLE_ANY_SQLITE),
    ("session::list::BY_IDS_SQLITE", list::BY_IDS_SQLITE),
    ("session::head::READ_SQLITE", head::READ_SQLITE),
    ("session::head::UPDATE_SQLITE", head::UPDATE_SQLITE),
];
pub(crate) const POSTGRES_SQL: &[(&str, &str)] = &[
    ("session::BY_ID_LOCKED_POSTGRES", BY_ID_LOCKED_POSTGRES),
    ("session::CLAIMABLE_POSTGRES", CLAIMABLE_POSTGRES),
    ("session::CLAIMABLE_ANY_POSTGRES", CLAIMABLE_ANY_POSTGRES),
    ("session::list::BY_IDS_POSTGRES", list::BY_IDS_POSTGRES),
    ("session::head::LOCK_POSTGRES", head::LOCK_POSTGRES),
    ("session::first_claim::CLAIM", first_claim::CLAIM),
];
/// Both writes of a status change in one round trip.
static SAVE_POSTGRES: LazyLock<String> =
    LazyLock::new(|| format!("WITH written AS ({}) {SAVE}", event::insert_postgres(23)));

pub(crate) fn postgres_statements() -> Vec<(&'static str, String)> {
    let mut all = head::postgres_statements();
    all.push(("session::SAVE_POSTGRES", SAVE_POSTGRES.clone()));
    all
}

row! {
    pub(crate) struct Row {
        tenant_id: Uuid,
        id: Uuid,
        session_type: String,
        status: String,
        end_reason: Option<String>,
        action_id: Option<Uuid>,
        action_slug: Option<String>,
        agent_slug: Option<String>,
        user_id: Option<Uuid>,
        source: Option<String>,
        entity_id: Option<Uuid>,
        title: String,
        input: Option<String>,
        metadata: String,
        result: Option<String>,
        usage: Option<String>,
        error_message: Option<String>,
        error_code: Option<String>,
        parent_id: Option<Uuid>,
        retry_of: Option<Uuid>,
        created_by: String,
        attempt: i64,
        attempts_max: i64,
        lease_seconds: Option<i64>,
        lease_expires_at: Option<i64>,
        head_sequence: i64,
        head_digest: Vec<u8>,
        created_at: i64,
        updated_at: i64,
        queued_at: Option<i64>,
        started_at: Option<i64>,
        completed_at: Option<i64>,
        time_limits: Option<String>,
        deadline_at: Option<i64>,
        waits_for: Option<String>,
        dependency_count: i64,
        awaited: i64,
        private_to: Option<String>,
    }
}

impl TryFrom<Row> for SessionRecord {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = |column, value: &dyn std::fmt::Debug| Error::inconsistent("sessions", column, value);
        let whole = |column, value: i64| u32::try_from(value).map_err(|_| bad(column, &value));
        let attempt = whole("attempt", row.attempt)?;
        let state = state::state(Columns {
            status: Status::parse(&row.status).ok_or_else(|| bad("status", &row.status))?,
            attempt,
            lease_seconds: row.lease_seconds.map(|seconds| whole("lease_seconds", seconds)).transpose()?,
            lease_expires_at: row.lease_expires_at.map(from_micros),
            deadline_at: row.deadline_at.map(from_micros),
            waits_for: match &row.waits_for {
                None => None,
                Some(text) => Some(WaitsFor::parse(text).ok_or_else(|| bad("waits_for", text))?),
            },
            end_reason: match &row.end_reason {
                None => None,
                Some(text) => Some(EndReason::parse(text).ok_or_else(|| bad("end_reason", text))?),
            },
            completed_at: row.completed_at.map(from_micros),
            outcome: Outcome { result: row.result, error_message: row.error_message, error_code: row.error_code },
        })?;
        Ok(Self {
            id: SessionId(row.id),
            tenant_id: TenantId(row.tenant_id),
            session_type: Type::parse(&row.session_type).ok_or_else(|| bad("session_type", &row.session_type))?,
            state,
            action_id: row.action_id.map(ActionId),
            action_slug: row.action_slug,
            agent_slug: row.agent_slug,
            user_id: row.user_id.map(UserId),
            source: row.source,
            entity_id: row.entity_id.map(EntityId),
            title: row.title,
            input: row.input,
            metadata: row.metadata,
            usage: row.usage,
            parent_id: row.parent_id.map(SessionId),
            retry_of: row.retry_of.map(SessionId),
            created_by: row.created_by,
            attempt,
            attempts_max: whole("attempts_max", row.attempts_max)?,
            head_sequence: u64::try_from(row.head_sequence).map_err(|_| bad("head_sequence", &row.head_sequence))?,
            head_digest: Digest::from_slice(&row.head_digest)
                .ok_or_else(|| bad("head_digest", &row.head_digest.len()))?,
            created_at: from_micros(row.created_at),
            updated_at: from_micros(row.updated_at),
            queued_at: row.queued_at.map(from_micros),
            started_at: row.started_at.map(from_micros),
            time_limits: due::limits(row.time_limits.as_deref())?,
            dependency_count: whole("dependency_count", row.dependency_count)?,
            awaited: row.awaited == 1,
            private_to: row.private_to,
        })
    }
}

pub(crate) fn record(row: Option<Row>) -> Result<Option<SessionRecord>> {
    row.map(SessionRecord::try_from).transpose()
}

/// A session of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Option<SessionRecord>> {
    record(run!(conn, fetch_optional Row, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId) -> Result<Option<SessionRecord>> {
    let row = match tx.conn() {
        Conn::Sqlite(c) => c.fetch_optional::<Row>(BY_ID, &[&tenant_id.0, &id.0])?,
        Conn::Postgres(c) => {
            sqlx::query_as::<_, Row>(BY_ID_LOCKED_POSTGRES)
                .bind(tenant_id.0)
                .bind(id.0)
                .fetch_optional(&mut **c)
                .await?
        }
    };
    record(row)
}

/// The session made with this idempotency key, and the digest of the request that made it.
pub async fn find_by_idempotency_key(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    key: &str,
) -> Result<Option<(SessionRecord, Vec<u8>)>> {
    let Some(session) = record(run!(conn, fetch_optional Row, BY_IDEMPOTENCY_KEY, tenant_id.0, key)?)? else {
        return Ok(None);
    };
    let digest = run!(conn, fetch_optional One<Option<Vec<u8>>>, IDEMPOTENCY_DIGEST, tenant_id.0, key)?;
    Ok(Some((session, digest.and_then(|(digest,)| digest).unwrap_or_default())))
}

/// How many sessions are above and including this one.
pub async fn depth(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<u32> {
    let (depth,) = run!(conn, fetch_one One<Option<i64>>, DEPTH, tenant_id.0, id.0)?;
    Ok(u32::try_from(depth.unwrap_or_default()).unwrap_or(u32::MAX))
}

/// A row of one column. Written out, the formatter would take the tuple for a call's arguments.
type One<T> = (T,);

/// What makes a repeated create the same one.
#[derive(Debug, Clone)]
pub struct Idempotency {
    /// The client's key.
    pub key: String,
    /// Digest of the request.
    pub digest: [u8; 32],
}

/// What inserting a session found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// It is new.
    New,
    /// The idempotency key was taken meanwhile: read that session.
    KeyTaken,
    /// A working session of this person began meanwhile. On PostgreSQL the transaction is lost: begin it again.
    AlreadyWorking,
}

/// Inserts a session with its first events. `session` is updated with its new head.
pub async fn insert(
    tx: &mut WriteTx<'_>,
    session: &mut SessionRecord,
    idempotency: Option<&Idempotency>,
    events: &[PreparedEvent],
) -> Result<Inserted> {
    let actor = session.created_by.clone();
    let at = session.created_at;
    let rows = extend(session, events, None, &actor, at);
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        session.tenant_id.0,
        session.id.0,
        session.session_type.as_str(),
        session.status().as_str(),
        session.action_id.map(|id| id.0),
        session.action_slug.as_deref(),
        session.agent_slug.as_deref(),
        session.user_id.map(|id| id.0),
        session.source.as_deref(),
        session.title.as_str(),
        session.input.as_deref(),
        session.metadata.as_str(),
        session.parent_id.map(|id| id.0),
        session.retry_of.map(|id| id.0),
        session.created_by.as_str(),
        idempotency.map(|i| i.key.as_str()),
        idempotency.map(|i| &i.digest[..]),
        i64::from(session.attempt),
        i64::from(session.attempts_max),
        session.head_sequence.cast_signed(),
        &session.head_digest.0[..],
        to_micros(session.created_at),
        to_micros(session.updated_at),
        session.queued_at.map(to_micros),
        session.started_at.map(to_micros),
        session.entity_id.map(|id| id.0),
        due::limits_text(&session.time_limits)?,
        session.deadline_at().map(to_micros),
        session.waits_for().map(WaitsFor::as_str),
        i64::from(session.dependency_count),
        session.private_to.as_deref(),
    );
    match inserted {
        Err(error) if is_unique_violation(&error) && idempotency.is_some() => return Ok(Inserted::KeyTaken),
        Err(error) if is_unique_violation(&error) && session.source.as_deref() == Some(working::SOURCE) => {
            return Ok(Inserted::AlreadyWorking);
        }
        other => other?,
    };
    event::insert(tx.conn(), &rows).await?;
    announce(tx, session, rows, true);
    Ok(Inserted::New)
}

/// Writes a changed session and its events, if it still has the status and attempt of `before`.
///
/// # Errors
/// [`Error::Inconsistent`] when the compare-and-set finds another status: the caller held no lock.
pub async fn save(
    tx: &mut WriteTx<'_>,
    before: &SessionRecord,
    session: &mut SessionRecord,
    events: &[PreparedEvent],
    attempt: Option<u32>,
    actor: &str,
    at: Timestamp,
) -> Result<()> {
    session.updated_at = truncate(at);
    let rows = extend(session, events, attempt, actor, at);
    let changed = save_row(tx.conn(), before, session, &rows).await?;
    #[cfg(feature = "planted-bugs")]
    let changed = if crate::planted::is(crate::planted::Bug::DoubleClaim) {
        planted::force_head(tx, session).await?
    } else {
        changed
    };
    if changed != 1 {
        return Err(Error::inconsistent("sessions", "status", "changed under a lock"));
    }
    announce(tx, session, rows, before.status() != session.status());
    Ok(())
}

/// The compare-and-set and the events. How many rows it changed: one, unless the session is not what it was.
async fn save_row(
    conn: &mut Conn<'_>,
    before: &SessionRecord,
    session: &SessionRecord,
    rows: &[event::NewRow],
) -> Result<u64> {
    macro_rules! bound {
        ($with:ident) => {
            $with!(
                session.tenant_id.0,
                session.id.0,
                session.status().as_str(),
                session.end_reason().map(EndReason::as_str),
                session.result(),
                session.usage.as_deref(),
                session.error_message(),
                session.error_code(),
                i64::from(session.attempt),
                session.lease_seconds().map(i64::from),
                session.lease_expires_at().map(to_micros),
                session.head_sequence.cast_signed(),
                &session.head_digest.0[..],
                to_micros(session.updated_at),
                session.queued_at.map(to_micros),
                session.started_at.map(to_micros),
                session.completed_at().map(to_micros),
                before.status().as_str(),
                i64::from(before.attempt),
                session.deadline_at().map(to_micros),
                session.waits_for().map(WaitsFor::as_str),
                i64::from(session.attempts_max)
            )
        };
    }
    match conn {
        Conn::Sqlite(c) => {
            macro_rules! execute {
                ($($bind:expr),+) => { c.execute(SAVE, &[$(&$bind as &dyn rusqlite::ToSql),+]) };
            }
            let changed = bound!(execute)?;
            event::insert_sqlite(c, rows)?;
            Ok(changed)
        }
        Conn::Postgres(c) => {
            macro_rules! query {
                ($($bind:expr),+) => { sqlx::query(AssertSqlSafe(SAVE_POSTGRES.as_str()))$(.bind($bind))+ };
            }
            Ok(event::bind_rows(bound!(query), rows).execute(&mut **c).await?.rows_affected())
        }
    }
}

/// The oldest claimable sessions of one agent, or of any agent; locked, and skipping those that others hold.
pub async fn claimable(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent_slug: Option<&str>,
    max: u32,
) -> Result<Vec<SessionRecord>> {
    #[cfg(feature = "planted-bugs")]
    if let Some(again) = planted::double_claim(tx).await? {
        return Ok(vec![again]);
    }
    let max = i64::from(max);
    let rows = match (tx.conn(), agent_slug) {
        (Conn::Sqlite(c), Some(agent)) => c.fetch_all::<Row>(CLAIMABLE_SQLITE, &[&tenant_id.0, &agent, &max])?,
        (Conn::Sqlite(c), None) => c.fetch_all::<Row>(CLAIMABLE_ANY_SQLITE, &[&tenant_id.0, &max])?,
        (Conn::Postgres(c), Some(agent)) => {
            sqlx::query_as::<_, Row>(CLAIMABLE_POSTGRES)
                .bind(tenant_id.0)
                .bind(agent)
                .bind(max)
                .fetch_all(&mut **c)
                .await?
        }
        (Conn::Postgres(c), None) => {
            sqlx::query_as::<_, Row>(CLAIMABLE_ANY_POSTGRES).bind(tenant_id.0).bind(max).fetch_all(&mut **c).await?
        }
    };
    rows.into_iter().map(SessionRecord::try_from).collect()
}

/// Links events to the session's head.
fn extend(
    session: &mut SessionRecord,
    events: &[PreparedEvent],
    attempt: Option<u32>,
    actor: &str,
    at: Timestamp,
) -> Vec<event::NewRow> {
    let mut head = Head::of(session);
    let rows = events.iter().map(|event| link(&mut head, event, attempt, actor, at)).collect();
    session.head_sequence = head.head_sequence;
    session.head_digest = head.head_digest;
    rows
}

fn announce(tx: &mut WriteTx<'_>, session: &SessionRecord, rows: Vec<event::NewRow>, status_changed: bool) {
    tx.notice(Notice {
        tenant_id: session.tenant_id,
        session_id: session.id,
        head_sequence: session.head_sequence,
        status: session.status(),
        status_changed,
        events: rows.into_iter().map(|row| row.record).collect::<Arc<[_]>>(),
    });
}
