//! Rows of `session_events`.

use crate::{
    append::AppendRequest,
    conn::{Conn, run},
    error::{Error, Result},
    record::{EventRecord, Page},
    session::Head,
    sql::{CHUNKS, chunks, values_statements},
    sqlite::{SqliteConnection, row},
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::{from_micros, to_micros},
    event::EventRole,
    id::{EventId, SessionId, TenantId},
    limit::PAGE_BYTES_MAX,
};
use futures_util::TryStreamExt as _;
use rusqlite::ToSql;
use sqlx::AssertSqlSafe;
use std::{ops::ControlFlow, sync::LazyLock};
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

macro_rules! event_select {
    ($rest:literal) => {
        concat!(
            "SELECT event_id, session_id, sequence, event_type, role, content, metadata, thread_id, external_event_id, \
             attempt, actor, at, recorded_at, body_digest, digest FROM session_events WHERE tenant_id = $1 AND session_id = $2 ",
            $rest
        )
    };
}
const AFTER: &str = event_select!("AND sequence > $3 AND sequence <= $4 ORDER BY sequence LIMIT $5");
const BEFORE: &str = event_select!("AND sequence < $3 ORDER BY sequence DESC LIMIT $4");
const AFTER_OF_KINDS_SQLITE: &str = event_select!(
    "AND sequence > $3 AND sequence <= $4 AND event_type IN (SELECT value FROM json_each($6)) ORDER BY sequence LIMIT $5"
);
const BEFORE_OF_KINDS_SQLITE: &str = event_select!(
    "AND sequence < $3 AND event_type IN (SELECT value FROM json_each($5)) ORDER BY sequence DESC LIMIT $4"
);
const AFTER_OF_KINDS_POSTGRES: &str =
    event_select!("AND sequence > $3 AND sequence <= $4 AND event_type = ANY($6) ORDER BY sequence LIMIT $5");
const BEFORE_OF_KINDS_POSTGRES: &str =
    event_select!("AND sequence < $3 AND event_type = ANY($5) ORDER BY sequence DESC LIMIT $4");
// Starts from the ids (CROSS JOIN keeps that order on SQLite). So each session costs one lookup at the end
// of its log, whatever the length of the logs.
macro_rules! newest_select {
    ($ids:literal) => {
        concat!(
            "SELECT e.event_id, e.session_id, e.sequence, e.event_type, e.role, e.content, e.metadata, e.thread_id, \
             e.external_event_id, e.attempt, e.actor, e.at, e.recorded_at, e.body_digest, e.digest FROM ",
            $ids,
            " CROSS JOIN session_events e WHERE e.tenant_id = $1 AND e.session_id = j.id AND e.sequence = (\
             SELECT x.sequence FROM session_events x WHERE x.tenant_id = $1 AND x.session_id = j.id \
             AND x.event_type NOT IN ('session.status_change', 'session.claimed', 'session.completed') \
             ORDER BY x.sequence DESC LIMIT 1)"
        )
    };
}
const NEWEST_SQLITE: &str = newest_select!("(SELECT unhex(value) AS id FROM json_each($2)) j");
const NEWEST_POSTGRES: &str = newest_select!("UNNEST($2::uuid[]) AS j (id)");
const RECORDED_BY_ID: &str = "SELECT event_id, sequence, event_type, role, thread_id, external_event_id, at, body_digest \
     FROM session_events WHERE tenant_id = $1 AND session_id = $2 AND event_id = $3";
const RECORDED_BY_EXTERNAL_ID: &str = "SELECT event_id, sequence, event_type, role, thread_id, external_event_id, at, body_digest \
     FROM session_events WHERE tenant_id = $1 AND session_id = $2 AND external_event_id = $3";
const KIND_COUNTS: &str = "SELECT event_type, COUNT(*), MAX(sequence) FROM session_events \
     WHERE tenant_id = $1 AND session_id = $2 GROUP BY event_type ORDER BY event_type";
// A text of its own: the one above is answered from the index by type alone, this one from the few rows at the end.
const KIND_COUNTS_AFTER: &str = "SELECT event_type, COUNT(*), MAX(sequence) FROM session_events \
     WHERE tenant_id = $1 AND session_id = $2 AND sequence > $3 GROUP BY event_type ORDER BY event_type";

pub(crate) const SQL: &[(&str, &str)] = &[
    ("event::AFTER", AFTER),
    ("event::BEFORE", BEFORE),
    ("event::RECORDED_BY_ID", RECORDED_BY_ID),
    ("event::RECORDED_BY_EXTERNAL_ID", RECORDED_BY_EXTERNAL_ID),
    ("event::KIND_COUNTS", KIND_COUNTS),
    ("event::KIND_COUNTS_AFTER", KIND_COUNTS_AFTER),
];
pub(crate) const SQLITE_SQL: &[(&str, &str)] = &[
    ("event::NEWEST_SQLITE", NEWEST_SQLITE),
    ("event::AFTER_OF_KINDS_SQLITE", AFTER_OF_KINDS_SQLITE),
    ("event::BEFORE_OF_KINDS_SQLITE", BEFORE_OF_KINDS_SQLITE),
];
pub(crate) const POSTGRES_SQL: &[(&str, &str)] = &[
    ("event::NEWEST_POSTGRES", NEWEST_POSTGRES),
    ("event::AFTER_OF_KINDS_POSTGRES", AFTER_OF_KINDS_POSTGRES),
    ("event::BEFORE_OF_KINDS_POSTGRES", BEFORE_OF_KINDS_POSTGRES),
];
pub(crate) fn sqlite_statements() -> Vec<(&'static str, String)> {
    INSERT_SQLITE.iter().map(|text| ("event::INSERT_SQLITE", text.clone())).collect()
}

pub(crate) fn postgres_statements() -> Vec<(&'static str, String)> {
    vec![("event::INSERT_POSTGRES", INSERT_POSTGRES.clone())]
}

/// A row about to be inserted.
#[derive(Debug, Clone)]
pub(crate) struct NewRow {
    pub(crate) tenant_id: TenantId,
    pub(crate) record: EventRecord,
}

/// What is kept of an event for recognising a repeat.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) id: EventId,
    pub(crate) sequence: u64,
    pub(crate) kind: String,
    pub(crate) role: String,
    pub(crate) thread_id: Option<String>,
    pub(crate) external_event_id: Option<String>,
    pub(crate) at: Timestamp,
    pub(crate) body: Digest,
}

row! {
    struct RecordedRow {
        event_id: Uuid,
        sequence: i64,
        event_type: String,
        role: String,
        thread_id: Option<String>,
        external_event_id: Option<String>,
        at: i64,
        body_digest: Vec<u8>,
    }
}

row! {
    pub(crate) struct Row {
        event_id: Uuid,
        session_id: Uuid,
        sequence: i64,
        event_type: String,
        role: String,
        content: String,
        metadata: String,
        thread_id: Option<String>,
        external_event_id: Option<String>,
        attempt: Option<i64>,
        actor: String,
        at: i64,
        recorded_at: i64,
        body_digest: Vec<u8>,
        digest: Vec<u8>,
    }
}

impl TryFrom<Row> for EventRecord {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = |column, value: &dyn std::fmt::Debug| Error::inconsistent("session_events", column, value);
        Ok(Self {
            id: EventId(row.event_id),
            session_id: SessionId(row.session_id),
            sequence: u64::try_from(row.sequence).map_err(|_| bad("sequence", &row.sequence))?,
            role: EventRole::parse(&row.role).ok_or_else(|| bad("role", &row.role))?,
            attempt: row.attempt.map(u32::try_from).transpose().map_err(|_| bad("attempt", &row.attempt))?,
            body: Digest::from_slice(&row.body_digest).ok_or_else(|| bad("body_digest", &row.body_digest.len()))?,
            digest: Digest::from_slice(&row.digest).ok_or_else(|| bad("digest", &row.digest.len()))?,
            kind: row.event_type,
            content: row.content,
            metadata: row.metadata,
            thread_id: row.thread_id,
            external_event_id: row.external_event_id,
            actor: row.actor,
            at: from_micros(row.at),
            recorded_at: from_micros(row.recorded_at),
        })
    }
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
            bind_rows(sqlx::query(AssertSqlSafe(INSERT_POSTGRES.as_str())), rows).execute(&mut **c).await.map(drop)
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
        c.execute(&INSERT_SQLITE[index], &binds)?;
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

/// For each event of the request, the recorded event with its id or external id.
pub(crate) async fn recorded(
    conn: &mut Conn<'_>,
    head: &Head,
    request: &AppendRequest,
) -> std::result::Result<Vec<Option<Recorded>>, sqlx::Error> {
    #[cfg(feature = "planted-bugs")]
    if crate::planted::is(crate::planted::Bug::NoDedup) {
        return Ok(vec![None; request.events.len()]);
    }
    let mut found = Vec::with_capacity(request.events.len());
    for event in &request.events {
        let mut row = None;
        if event.client_made {
            row = run!(conn, fetch_optional RecordedRow, RECORDED_BY_ID, head.tenant_id.0, head.id.0, event.id.0)?;
        }
        if let (None, Some(external)) = (&row, &event.external_event_id) {
            row =
                run!(conn, fetch_optional RecordedRow, RECORDED_BY_EXTERNAL_ID, head.tenant_id.0, head.id.0, external)?;
        }
        found.push(row.map(|row| Recorded {
            id: EventId(row.event_id),
            sequence: row.sequence.cast_unsigned(),
            kind: row.event_type,
            role: row.role,
            thread_id: row.thread_id,
            external_event_id: row.external_event_id,
            at: from_micros(row.at),
            body: Digest::from_slice(&row.body_digest).unwrap_or(Digest::GENESIS),
        }));
    }
    Ok(found)
}

/// Whether the session has an event with this external id.
pub async fn has_external(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    external_event_id: &str,
) -> Result<bool> {
    let found =
        run!(conn, fetch_optional RecordedRow, RECORDED_BY_EXTERNAL_ID, tenant_id.0, session_id.0, external_event_id)?;
    Ok(found.is_some())
}

/// Streams rows into a page, so that a page of large events ends by its bytes before it fills the memory.
macro_rules! page_of {
    (sqlite $c:expr, $limit:expr, $sql:expr $(, $bind:expr)* $(,)?) => {{
        let mut page = Filling::new($limit);
        $c.each($sql, &[$(&$bind as &dyn ToSql),*], |row| page.take(row))?;
        page.done()
    }};
    ($c:expr, $limit:expr, $sql:expr $(, $bind:expr)* $(,)?) => {{
        let mut page = Filling::new($limit);
        let mut rows = sqlx::query_as::<_, Row>($sql)$(.bind($bind))*.fetch(&mut **$c);
        while let Some(row) = rows.try_next().await? {
            if page.take(row).is_break() {
                break;
            }
        }
        page.done()
    }};
}

/// Events of a session after `after` and up to `upto`, oldest first. `kinds` empty: every kind.
pub async fn after(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    (after, upto): (u64, u64),
    kinds: &[String],
    limit: u32,
) -> Result<Page<EventRecord>> {
    let (tenant, session, more) = (tenant_id.0, session_id.0, i64::from(limit) + 1);
    let (from, to) = (after.cast_signed(), upto.cast_signed());
    match (conn, kinds) {
        (Conn::Sqlite(c), []) => page_of!(sqlite c, limit, AFTER, tenant, session, from, to, more),
        (Conn::Postgres(c), []) => page_of!(c, limit, AFTER, tenant, session, from, to, more),
        (Conn::Sqlite(c), kinds) => {
            page_of!(sqlite c, limit, AFTER_OF_KINDS_SQLITE, tenant, session, from, to, more, json_list(kinds))
        }
        (Conn::Postgres(c), kinds) => {
            page_of!(c, limit, AFTER_OF_KINDS_POSTGRES, tenant, session, from, to, more, kinds)
        }
    }
}

/// The last `limit` events of a session before `before`, oldest first.
pub async fn before(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    before: u64,
    kinds: &[String],
    limit: u32,
) -> Result<Page<EventRecord>> {
    let (tenant, session, more) = (tenant_id.0, session_id.0, i64::from(limit) + 1);
    let before = before.cast_signed();
    let mut page = match (conn, kinds) {
        (Conn::Sqlite(c), []) => page_of!(sqlite c, limit, BEFORE, tenant, session, before, more),
        (Conn::Postgres(c), []) => page_of!(c, limit, BEFORE, tenant, session, before, more),
        (Conn::Sqlite(c), kinds) => {
            page_of!(sqlite c, limit, BEFORE_OF_KINDS_SQLITE, tenant, session, before, more, json_list(kinds))
        }
        (Conn::Postgres(c), kinds) => {
            page_of!(c, limit, BEFORE_OF_KINDS_POSTGRES, tenant, session, before, more, kinds)
        }
    }?;
    page.items.reverse();
    Ok(page)
}

/// The newest event of each session that tells more than a change of status.
pub async fn newest(conn: &mut Conn<'_>, tenant_id: TenantId, sessions: &[SessionId]) -> Result<Vec<EventRecord>> {
    let rows = match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = sessions.iter().map(|id| id.0.simple().to_string()).collect();
            c.fetch_all::<Row>(NEWEST_SQLITE, &[&tenant_id.0, &json_list(&hex)])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = sessions.iter().map(|id| id.0).collect();
            sqlx::query_as::<_, Row>(NEWEST_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    rows.into_iter().map(EventRecord::try_from).collect()
}

/// How many events of each kind a session has after `after`, and the newest sequence counted.
pub async fn kind_counts(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    after: u64,
) -> Result<(Vec<(String, u64)>, u64)> {
    let rows = if after == 0 {
        run!(conn, fetch_all(String, i64, i64), KIND_COUNTS, tenant_id.0, session_id.0)?
    } else {
        let after = after.cast_signed();
        run!(conn, fetch_all(String, i64, i64), KIND_COUNTS_AFTER, tenant_id.0, session_id.0, after)?
    };
    let newest = rows.iter().map(|(_, _, newest)| newest.cast_unsigned()).fold(after, u64::max);
    Ok((rows.into_iter().map(|(kind, count, _)| (kind, count.cast_unsigned())).collect(), newest))
}

fn json_list(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}

/// A page that is being filled.
struct Filling {
    page: Page<EventRecord>,
    bytes: usize,
    limit: usize,
    failed: Option<Error>,
}

impl Filling {
    const fn new(limit: u32) -> Self {
        Self { page: Page { items: Vec::new(), has_more: false }, bytes: 0, limit: limit as usize, failed: None }
    }

    fn take(&mut self, row: Row) -> ControlFlow<()> {
        // The first event always fits: no page is empty while there is something to read.
        if self.page.items.len() >= self.limit || self.bytes > PAGE_BYTES_MAX {
            self.page.has_more = true;
            return ControlFlow::Break(());
        }
        self.bytes += row.content.len() + row.metadata.len();
        match EventRecord::try_from(row) {
            Ok(event) => self.page.items.push(event),
            Err(error) => {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn done(self) -> Result<Page<EventRecord>> {
        self.failed.map_or(Ok(self.page), Err)
    }
}
