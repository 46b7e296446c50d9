//! Rows of `session_events`.

use crate::engine::{Conn, Error, Page, Result, record, record_rows, run, spanned, statement_span, statements};
use domain::{
    chain::Digest,
    clock::from_micros,
    event::{Event, EventRole},
    id::{EventId, SessionId, TenantId},
    limit::PAGE_BYTES_MAX,
};
use futures_util::TryStreamExt as _;
use rusqlite::ToSql;
use std::ops::ControlFlow;
use uuid::Uuid;

macro_rules! event_select {
    ($rest:literal) => {
        concat!(
            "SELECT event_id, session_id, sequence, event_type, role, content, metadata, thread_id, external_event_id, \
             attempt, actor, at, recorded_at, body_digest, digest FROM session_events WHERE tenant_id = $1 AND session_id = $2 ",
            $rest
        )
    };
}
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
             AND x.event_type NOT IN ('session.status_change', 'session.claimed', 'session.completed', \
             'session.tags_change', 'session.assignee_change') \
             ORDER BY x.sequence DESC LIMIT 1)"
        )
    };
}

statements! {
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
    const NEWEST_SQLITE: &str = newest_select!("(SELECT unhex(value) AS id FROM json_each($2)) j");
    const NEWEST_POSTGRES: &str = newest_select!("UNNEST($2::uuid[]) AS j (id)");
    const KIND_COUNTS: &str = "SELECT event_type, COUNT(*), MAX(sequence) FROM session_events \
         WHERE tenant_id = $1 AND session_id = $2 GROUP BY event_type ORDER BY event_type";
    // A text of its own: the one above is answered from the index by type alone, this one from the few rows at the end.
    const KIND_COUNTS_AFTER: &str = "SELECT event_type, COUNT(*), MAX(sequence) FROM session_events \
         WHERE tenant_id = $1 AND session_id = $2 AND sequence > $3 GROUP BY event_type ORDER BY event_type";
}

record! {
    pub(crate) struct Row of "session_events" {
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

impl TryFrom<Row> for Event {
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

/// Streams rows into a page, so that a page of large events ends by its bytes before it fills the memory.
macro_rules! page_of {
    (sqlite $c:expr, $limit:expr, $sql:expr $(, $bind:expr)* $(,)?) => {{
        let span = statement_span(concat!(module_path!(), "::", stringify!($sql)));
        let mut page = Filling::new($limit);
        $c.each($sql, &[$(&$bind as &dyn ToSql),*], |row| page.take(row))?;
        page.done(&span)
    }};
    ($c:expr, $limit:expr, $sql:expr $(, $bind:expr)* $(,)?) => {{
        let span = statement_span(concat!(module_path!(), "::", stringify!($sql)));
        let mut page = Filling::new($limit);
        let mut rows = sqlx::query_as::<_, Row>($sql)$(.bind($bind))*.fetch(&mut **$c);
        while let Some(row) = rows.try_next().await? {
            if page.take(row).is_break() {
                break;
            }
        }
        page.done(&span)
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
) -> Result<Page<Event>> {
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
) -> Result<Page<Event>> {
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

/// The newest event of each session that tells more than a change of status, tags or assignee.
pub async fn newest(conn: &mut Conn<'_>, tenant_id: TenantId, sessions: &[SessionId]) -> Result<Vec<Event>> {
    let rows = match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = sessions.iter().map(|id| id.0.simple().to_string()).collect();
            let binds: [&dyn ToSql; 2] = [&tenant_id.0, &json_list(&hex)];
            spanned!(NEWEST_SQLITE, fetch_all, c.fetch_all::<Row>(NEWEST_SQLITE, &binds))?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = sessions.iter().map(|id| id.0).collect();
            let query = sqlx::query_as::<_, Row>(NEWEST_POSTGRES).bind(tenant_id.0).bind(ids);
            spanned!(NEWEST_POSTGRES, fetch_all, query.fetch_all(&mut **c).await)?
        }
    };
    rows.into_iter().map(Event::try_from).collect()
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
    page: Page<Event>,
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
        match Event::try_from(row) {
            Ok(event) => self.page.items.push(event),
            Err(error) => {
                self.failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn done(self, span: &tracing::Span) -> Result<Page<Event>> {
        record_rows(span, Ok::<_, &Error>(self.page.items.len() as u64));
        self.failed.map_or(Ok(self.page), Err)
    }
}
