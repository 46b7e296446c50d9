//! Finding events by their words.

use super::{entry::SCOPE, expression};
use crate::engine::{Conn, Result, SqliteConnection, record, run, statements};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId},
    search::Query,
};
use sqlx::PgConnection;
use uuid::Uuid;

/// Time before the newest event in which PostgreSQL looks first, microseconds: a day. Each window after it is
/// [`WINDOW_GROWTH`] times as long, so that a common word is found among the newest events and a rare one soon.
const WINDOW_MICROS: i64 = 86_400_000_000;
const WINDOW_GROWTH: i64 = 8;
/// How far rows of SQLite can be out of the order of their times, microseconds: a minute. Writes wait for each other
/// for seconds at most.
const DISORDER_MICROS: i64 = 60_000_000;
/// Windows after which the rest is looked at as one: more than a year.
const WINDOWS_MAX: usize = 4;

statements! {
    const FOUND_SQLITE: &str = "SELECT f.position, e.session_id, e.sequence, e.recorded_at FROM (SELECT rowid AS position FROM search_events \
         WHERE search_events MATCH $1 AND rowid < $2 AND rowid >= $3 ORDER BY rowid DESC LIMIT $4) f \
         CROSS JOIN session_events e ON e.rowid = f.position WHERE e.tenant_id = $5 ORDER BY f.position DESC";
    const ROW_UP_TO_SQLITE: &str =
        "SELECT rowid, recorded_at FROM session_events WHERE rowid <= $1 ORDER BY rowid DESC LIMIT 1";
    const FOUND_POSTGRES: &str = "SELECT e.recorded_at AS position, e.session_id, e.sequence, e.recorded_at FROM search_events e \
         WHERE e.scope_id = $1 AND e.terms @@ CAST($2 AS tsquery) AND (e.recorded_at, e.session_id, e.sequence) < ($3, $4, $5) \
         AND e.recorded_at >= $6 ORDER BY e.recorded_at DESC, e.session_id DESC, e.sequence DESC LIMIT $7";
    const NEWEST_POSTGRES: &str = "SELECT MAX(recorded_at) FROM search_events WHERE scope_id = $1 AND recorded_at < $2";
    const EVENTS_SQLITE: &str = "SELECT e.session_id, e.sequence, e.event_type, e.content, e.metadata FROM json_each($2) j \
         CROSS JOIN session_events e ON e.rowid = j.value WHERE e.tenant_id = $1";
    const EVENTS_POSTGRES: &str = "SELECT e.session_id, e.sequence, e.event_type, e.content, e.metadata \
         FROM UNNEST($2::uuid[], $3::bigint[]) AS j (session_id, sequence) \
         JOIN session_events e ON e.tenant_id = $1 AND e.session_id = j.session_id AND e.sequence = j.sequence";
}

/// A place in the order of results, after which the next page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Of this engine alone.
    pub position: i64,
    /// Session of the event.
    pub session_id: SessionId,
    /// Place of the event in the log of its session.
    pub sequence: u64,
}

/// When events were recorded that are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// Only events that were recorded at this time or later (UTC).
    pub after: Option<Timestamp>,
    /// Only events that were recorded before this time (UTC).
    pub before: Option<Timestamp>,
}

impl Window {
    fn has(self, at: Timestamp) -> bool {
        self.after.is_none_or(|after| at >= after) && self.before.is_none_or(|before| at < before)
    }
}

record! {
    /// An event that has the words.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Found of "search_events" {
        position: i64,
        /// Session that has the event.
        pub session_id: SessionId,
        /// Its sequence in the session.
        pub sequence: u64,
        /// Time it was recorded (UTC).
        pub recorded_at: Timestamp,
    }
}

impl Found {
    /// Where it is in the order of results.
    pub fn place(&self) -> Place {
        Place { position: self.position, session_id: self.session_id, sequence: self.sequence }
    }
}

record! {
    /// The event behind an entry.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct FoundEvent of "session_events" {
        /// Session that has the event.
        pub session_id: SessionId,
        /// Its sequence in the session.
        pub sequence: u64,
        /// Its kind.
        pub event_type: String,
        /// Its content, as it is stored.
        pub content: String,
        /// Its metadata, as they are stored.
        pub metadata: String,
    }
}

/// Events of a workspace that match, newest first, at most `limit`. With a place, only those after it. Fewer than
/// `limit` are the last ones.
pub async fn find(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    query: &Query,
    window: Window,
    after: Option<Place>,
    limit: u32,
) -> Result<Vec<Found>> {
    let Some((scope,)) = run!(conn, fetch_optional(i64,), SCOPE, tenant_id.0)? else { return Ok(Vec::new()) };
    match conn {
        Conn::Sqlite(c) => {
            let query = expression::for_sqlite(scope, query);
            find_on_sqlite(c, tenant_id, &query, window, after, limit)
        }
        Conn::Postgres(c) => {
            let query = expression::for_postgres(scope, query);
            find_on_postgres(c, (scope, &query), window, after, limit).await
        }
    }
}

fn find_on_sqlite(
    c: &mut SqliteConnection,
    tenant_id: TenantId,
    query: &str,
    window: Window,
    after: Option<Place>,
    limit: u32,
) -> Result<Vec<Found>> {
    let from = window.after.map(|at| first_row(c, to_micros(at) - DISORDER_MICROS)).transpose()?.unwrap_or(0);
    let upto = window.before.map(|at| first_row(c, to_micros(at) + DISORDER_MICROS)).transpose()?.unwrap_or(i64::MAX);
    let mut before = after.map_or(upto, |place| place.position.min(upto));
    let mut found = Vec::new();
    // At both ends of a window are events of other times.
    while found.len() < limit as usize {
        let more = left(limit, &found);
        let rows = c.fetch_all::<Found>(FOUND_SQLITE, &[&query, &before, &from, &more, &tenant_id.0])?;
        let is_last = i64::try_from(rows.len()).unwrap_or(i64::MAX) < more;
        before = rows.last().map_or(before, |row| row.position);
        found.extend(rows.into_iter().filter(|row| window.has(row.recorded_at)));
        if is_last {
            break;
        }
    }
    Ok(found)
}

/// How many may still be found.
fn left(limit: u32, found: &[Found]) -> i64 {
    i64::from(limit) - i64::try_from(found.len()).unwrap_or(i64::MAX)
}

/// The first row of `session_events` that was recorded at this time or later, found by halves.
fn first_row(c: &mut SqliteConnection, at: i64) -> Result<i64> {
    let newest = c.fetch_optional::<(i64, i64)>(ROW_UP_TO_SQLITE, &[&i64::MAX])?;
    let (mut low, mut high) = (0, newest.map_or(0, |(row, _)| row));
    // Every row up to `low` is older, and every row after `high` is not.
    while low < high {
        let middle = low + (high - low + 1) / 2;
        match c.fetch_optional::<(i64, i64)>(ROW_UP_TO_SQLITE, &[&middle])? {
            Some((_, recorded_at)) if recorded_at >= at => high = middle - 1,
            _ => low = middle,
        }
    }
    Ok(low + 1)
}

async fn find_on_postgres(
    c: &mut PgConnection,
    (scope, query): (i64, &str),
    window: Window,
    after: Option<Place>,
    limit: u32,
) -> Result<Vec<Found>> {
    let floor = window.after.map_or(i64::MIN, to_micros);
    let ceiling = window.before.map_or(i64::MAX, to_micros);
    let none = Place { position: ceiling, session_id: SessionId(Uuid::nil()), sequence: 0 };
    let mut before = after.filter(|place| place.position < ceiling).unwrap_or(none);
    // The place itself is in the window of its time.
    let upto = before.position.saturating_add(1);
    let newest: (Option<i64>,) = sqlx::query_as(NEWEST_POSTGRES).bind(scope).bind(upto).fetch_one(&mut *c).await?;
    let Some(mut at) = newest.0 else { return Ok(Vec::new()) };
    let (mut found, mut length): (Vec<Found>, i64) = (Vec::new(), WINDOW_MICROS);
    for number in 0..=WINDOWS_MAX {
        let from = if number == WINDOWS_MAX { floor } else { at.saturating_sub(length).max(floor) };
        // Planned for these words: whether a word is common decides by which index its events are found.
        let rows = sqlx::query_as::<_, Found>(FOUND_POSTGRES).persistent(false);
        let rows = rows.bind(scope).bind(query).bind(before.position).bind(before.session_id.0);
        let rows = rows.bind(before.sequence.cast_signed()).bind(from);
        let rows = rows.bind(left(limit, &found)).fetch_all(&mut *c).await?;
        found.extend(rows);
        if found.len() >= limit as usize || from == floor {
            break;
        }
        before = Place { position: from, ..none };
        (at, length) = (from, length * WINDOW_GROWTH);
    }
    Ok(found)
}

/// The events behind these entries, in no order. One that is not there any more is left out.
pub async fn events(conn: &mut Conn<'_>, tenant_id: TenantId, of: &[Found]) -> Result<Vec<FoundEvent>> {
    let rows = match conn {
        Conn::Sqlite(c) => {
            let rows = serde_json::Value::from_iter(of.iter().map(|found| found.position)).to_string();
            c.fetch_all::<FoundEvent>(EVENTS_SQLITE, &[&tenant_id.0, &rows])?
        }
        Conn::Postgres(c) => {
            let (sessions, sequences): (Vec<Uuid>, Vec<i64>) =
                of.iter().map(|found| (found.session_id.0, found.sequence.cast_signed())).unzip();
            let query = sqlx::query_as(EVENTS_POSTGRES).bind(tenant_id.0).bind(sessions).bind(sequences);
            query.fetch_all(&mut **c).await?
        }
    };
    Ok(rows)
}
