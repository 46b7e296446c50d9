//! Rows of `interactions`, `interaction_feedback` and `interaction_outcomes`.

use super::capture_due;
use crate::{
    engine::{Conn, Result, record, run, statements},
    relevance,
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{InteractionId, SessionId, TenantId},
    interaction::{Feedback, Source},
    limit::PAGE_BYTES_MAX,
    outcome::Outcome,
};
use futures_util::TryStreamExt as _;
use rusqlite::ToSql;
use std::ops::ControlFlow;
use uuid::Uuid;

macro_rules! lines_after {
    ($table:literal) => {
        concat!("SELECT id, record FROM ", $table, " WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3")
    };
}
// Scans a bounded number of rows and then filters them, so that a search for a rare label does not read the table.
macro_rules! list {
    ($which:literal) => {
        concat!(
            "SELECT * FROM (SELECT i.id, i.session_id, i.recorded_at, i.record, \
             (SELECT f.record FROM interaction_feedback f WHERE f.tenant_id = i.tenant_id AND f.interaction_id = i.id \
                ORDER BY f.recorded_at DESC, f.id DESC LIMIT 1) AS feedback_record, \
             (SELECT f.feedback FROM interaction_feedback f WHERE f.tenant_id = i.tenant_id AND f.interaction_id = i.id \
                ORDER BY f.recorded_at DESC, f.id DESC LIMIT 1) AS feedback, \
             (SELECT o.outcome FROM interaction_outcomes o WHERE o.tenant_id = i.tenant_id AND o.interaction_id = i.id \
                ORDER BY o.recorded_at DESC, o.id DESC LIMIT 1) AS outcome \
             FROM interactions i WHERE i.tenant_id = $1 AND ",
            $which,
            " AND i.id < $3 AND i.id >= $4 ORDER BY i.id DESC LIMIT $5) AS scanned \
             WHERE ($6 = '' OR coalesce(feedback, 'unknown') = $6) AND ($7 = '' OR coalesce(outcome, 'unknown') = $7) \
             ORDER BY id DESC LIMIT $8"
        )
    };
}
// The last row that `list!` scans for a page, with the same parameters.
macro_rules! last_scanned {
    ($which:literal) => {
        concat!(
            "SELECT i.id FROM interactions i WHERE i.tenant_id = $1 AND ",
            $which,
            " AND i.id < $3 AND i.id >= $4 ORDER BY i.id DESC LIMIT 1 OFFSET $5"
        )
    };
}

/// Streams the rows of a query into a [`Filling`].
macro_rules! fill {
    ($conn:expr, $page:ident, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        match $conn {
            Conn::Sqlite(c) => c.each::<$row>($sql, &[$(&$bind as &dyn ToSql),*], |row| $page.take(row))?,
            Conn::Postgres(c) => {
                let mut rows = sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.fetch(&mut **c);
                while let Some(row) = rows.try_next().await? {
                    if $page.take(row).is_break() {
                        break;
                    }
                }
            }
        }
    };
}

statements! {
    const INSERT_SQLITE: &str = "INSERT INTO interactions (tenant_id, id, session_id, recorded_at, record) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    const INSERT_ALL_POSTGRES: &str = "INSERT INTO interactions (tenant_id, id, session_id, recorded_at, record) \
         SELECT * FROM UNNEST($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[]) ON CONFLICT DO NOTHING";
    const INSERT_FEEDBACK: &str = "INSERT INTO interaction_feedback \
         (tenant_id, id, session_id, interaction_id, recorded_at, feedback, source, record) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    const INSERT_OUTCOME: &str = "INSERT INTO interaction_outcomes \
         (tenant_id, id, session_id, interaction_id, recorded_at, outcome, record) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
    const AFTER: &str = lines_after!("interactions");
    const FEEDBACK_AFTER: &str = lines_after!("interaction_feedback");
    const OUTCOMES_AFTER: &str = lines_after!("interaction_outcomes");
    const LIST: &str = list!("i.tenant_id = $2");
    const LIST_OF_SESSION: &str = list!("i.session_id = $2");
    const LAST_SCANNED: &str = last_scanned!("i.tenant_id = $2");
    const LAST_SCANNED_OF_SESSION: &str = last_scanned!("i.session_id = $2");
    const COUNT_FEEDBACK_OF_PEOPLE: &str = "SELECT COUNT(*) FROM interaction_feedback WHERE tenant_id = $1 AND interaction_id = $2 \
         AND source IN ('manual', 'reviewer')";
    const SESSION_OF: &str = "SELECT session_id FROM interactions WHERE tenant_id = $1 AND id = $2";

    const DELETE_FEEDBACK_OF_SESSION: &str =
        "DELETE FROM interaction_feedback WHERE tenant_id = $1 AND session_id = $2";
    const DELETE_OUTCOMES_OF_SESSION: &str =
        "DELETE FROM interaction_outcomes WHERE tenant_id = $1 AND session_id = $2";
    const DELETE_OF_SESSION: &str = "DELETE FROM interactions WHERE tenant_id = $1 AND session_id = $2";
}

/// A line of one of the streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRecord {
    /// Id derived from the subject of the line and its time.
    pub id: Uuid,
    /// Time of the line (UTC).
    pub recorded_at: Timestamp,
    /// JSON, without a newline.
    pub record: String,
}

/// A line of interactions with its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLine {
    /// Workspace of the session.
    pub tenant_id: TenantId,
    /// Session of the interaction.
    pub session_id: SessionId,
    /// What was captured, with its id and time.
    pub line: LineRecord,
}

/// An interaction with its latest feedback and outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InteractionRow {
    /// Identifies the interaction.
    pub id: InteractionId,
    /// The session it is part of.
    pub session_id: SessionId,
    /// When the answer was complete.
    pub recorded_at: Timestamp,
    /// The interaction's line, as JSON.
    pub record: String,
    /// The latest line of feedback, as JSON.
    pub feedback: Option<String>,
    /// The value of the latest feedback.
    pub label: Option<Feedback>,
    /// The outcome inferred from the next turn.
    pub outcome: Option<Outcome>,
}

/// Which interactions are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InteractionFilter {
    /// Only interactions of this session.
    pub session_id: Option<SessionId>,
    /// Least id, inclusive.
    pub from: Uuid,
    /// Upper bound of the ids, exclusive.
    pub before: Uuid,
    /// Only interactions with this feedback; `Some(None)`: only those without any.
    pub feedback: Option<Option<Feedback>>,
    /// Only interactions with this outcome; `Some(None)`: only those without any.
    pub outcome: Option<Option<Outcome>>,
    /// Most items of a page.
    pub limit: u32,
    /// Most interactions that are read for one page.
    pub looked_max: u32,
}

/// One of the streams of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Prompts and answers.
    Interactions,
    /// Ratings and corrections of answers by people.
    Feedback,
    /// Inferred outcomes.
    Outcomes,
}

record! {
    struct ListRow of "interactions" {
        id: InteractionId,
        session_id: SessionId,
        recorded_at: Timestamp,
        record: String,
        feedback_record: Option<String>,
        feedback: Option<Feedback>,
        outcome: Option<Outcome>,
    }
}

impl From<ListRow> for InteractionRow {
    fn from(row: ListRow) -> Self {
        Self {
            id: row.id,
            session_id: row.session_id,
            recorded_at: row.recorded_at,
            record: row.record,
            feedback: row.feedback_record,
            label: row.feedback,
            outcome: row.outcome,
        }
    }
}

/// Stores lines of interactions. Lines that are stored already are left unchanged.
pub async fn insert(tx: &mut WriteTx<'_>, lines: &[SessionLine]) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    match tx.conn() {
        // Asked in place: one statement for many rows would save next to nothing.
        Conn::Sqlite(c) => {
            for SessionLine { tenant_id, session_id, line } in lines {
                c.execute(
                    INSERT_SQLITE,
                    &[&tenant_id.0, &line.id, &session_id.0, &to_micros(line.recorded_at), &line.record],
                )?;
            }
        }
        Conn::Postgres(c) => {
            sqlx::query(INSERT_ALL_POSTGRES)
                .bind(lines.iter().map(|one| one.tenant_id.0).collect::<Vec<_>>())
                .bind(lines.iter().map(|one| one.line.id).collect::<Vec<_>>())
                .bind(lines.iter().map(|one| one.session_id.0).collect::<Vec<_>>())
                .bind(lines.iter().map(|one| to_micros(one.line.recorded_at)).collect::<Vec<_>>())
                .bind(lines.iter().map(|one| one.line.record.as_str()).collect::<Vec<_>>())
                .execute(&mut **c)
                .await?;
        }
    }
    Ok(())
}

/// Stores a line of feedback about an interaction. Returns `false` if it is stored already.
pub async fn insert_feedback(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (session_id, about): (SessionId, InteractionId),
    (feedback, source): (Feedback, Source),
    line: &LineRecord,
) -> Result<bool> {
    let (at, record) = (to_micros(line.recorded_at), line.record.as_str());
    let (feedback, source) = (feedback.as_str(), source.as_str());
    let (id, session, about) = (line.id, session_id.0, about.0);
    Ok(run!(tx.conn(), execute, INSERT_FEEDBACK, tenant_id.0, id, session, about, at, feedback, source, record)? == 1)
}

/// Stores the outcome inferred for an interaction. Returns `false` if it is stored already.
pub async fn insert_outcome(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (session_id, about): (SessionId, InteractionId),
    outcome: Outcome,
    line: &LineRecord,
) -> Result<bool> {
    let (at, record, outcome) = (to_micros(line.recorded_at), line.record.as_str(), outcome.as_str());
    let (id, session, about) = (line.id, session_id.0, about.0);
    Ok(run!(tx.conn(), execute, INSERT_OUTCOME, tenant_id.0, id, session, about, at, outcome, record)? == 1)
}

/// Id and JSON of a stream's lines after `after`, in the order of ids, which is the order of time. A page
/// may end early by its size in bytes; only an empty page is the last.
pub async fn after(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    stream: Stream,
    after: Uuid,
    limit: u32,
) -> Result<Vec<(Uuid, String)>> {
    let sql = match stream {
        Stream::Interactions => AFTER,
        Stream::Feedback => FEEDBACK_AFTER,
        Stream::Outcomes => OUTCOMES_AFTER,
    };
    let mut page = Filling::new(limit, |(_, record): &(Uuid, String)| record.len());
    fill!(conn, page, (Uuid, String), sql, tenant_id.0, after, i64::from(limit));
    Ok(page.items)
}

/// Interactions of a workspace, newest first, and the id after which the next page begins, if there may be
/// one. A filter that few interactions match can leave a page shorter than its limit.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    wanted: InteractionFilter,
) -> Result<(Vec<InteractionRow>, Option<InteractionId>)> {
    let (sql, last_scanned_sql) =
        if wanted.session_id.is_some() { (LIST_OF_SESSION, LAST_SCANNED_OF_SESSION) } else { (LIST, LAST_SCANNED) };
    // Without a session this parameter is the workspace again.
    let session = wanted.session_id.map_or(tenant_id.0, |id| id.0);
    let label = |wanted: Option<Option<&'static str>>| wanted.map_or("", |known| known.unwrap_or("unknown"));
    let feedback = label(wanted.feedback.map(|known| known.map(Feedback::as_str)));
    let outcome = label(wanted.outcome.map(|known| known.map(Outcome::as_str)));
    let (before, from, max) = (wanted.before, wanted.from, i64::from(wanted.looked_max));
    let more = i64::from(wanted.limit) + 1;
    let mut page = Filling::new(wanted.limit, |row: &ListRow| row.record.len());
    fill!(conn, page, ListRow, sql, tenant_id.0, session, before, from, max, feedback, outcome, more);
    let items: Vec<_> = page.items.into_iter().map(InteractionRow::from).collect();
    if page.has_more {
        let last = items.last().map(|item| item.id);
        return Ok((items, last));
    }
    // The page is not full: either there are no more rows, or the bound on rows read was reached.
    let end = run!(conn, fetch_optional(Uuid,), last_scanned_sql, tenant_id.0, session, before, from, max - 1)?;
    Ok((items, end.map(|(id,)| InteractionId(id))))
}

/// A page that is being filled. Large rows end it early, so that it does not fill the memory.
struct Filling<T> {
    items: Vec<T>,
    has_more: bool,
    limit: usize,
    bytes: usize,
    size: fn(&T) -> usize,
}

impl<T> Filling<T> {
    const fn new(limit: u32, size: fn(&T) -> usize) -> Self {
        Self { items: Vec::new(), has_more: false, limit: limit as usize, bytes: 0, size }
    }

    /// Adds a row. The first row always fits, so no page is empty while there are rows.
    fn take(&mut self, row: T) -> ControlFlow<()> {
        if self.items.len() >= self.limit || self.bytes > PAGE_BYTES_MAX {
            self.has_more = true;
            return ControlFlow::Break(());
        }
        self.bytes += (self.size)(&row);
        self.items.push(row);
        ControlFlow::Continue(())
    }
}

/// Deletes the interactions of a session that is being erased, with their feedback and outcomes, and the ratings of its
/// memories.
pub(crate) async fn forget(tx: &mut WriteTx<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<()> {
    // A capture deletes the row of its turn before it stores lines. On PostgreSQL this statement therefore waits for a
    // capture that is under way, the next ones delete its lines, and a later capture finds no row.
    capture_due::forget(tx, tenant_id, session_id).await?;
    relevance::forget(tx, tenant_id, session_id).await?;
    for sql in [DELETE_FEEDBACK_OF_SESSION, DELETE_OUTCOMES_OF_SESSION, DELETE_OF_SESSION] {
        run!(tx.conn(), execute, sql, tenant_id.0, session_id.0)?;
    }
    Ok(())
}

/// Whether a person has given feedback on an interaction, by a mark or as a reviewer.
pub async fn is_judged(conn: &mut Conn<'_>, tenant_id: TenantId, id: InteractionId) -> Result<bool> {
    Ok(run!(conn, fetch_one(i64,), COUNT_FEEDBACK_OF_PEOPLE, tenant_id.0, id.0)?.0 > 0)
}

/// The session of an interaction; `None` if there is no such interaction.
pub async fn session_of(conn: &mut Conn<'_>, tenant_id: TenantId, id: InteractionId) -> Result<Option<SessionId>> {
    let row = run!(conn, fetch_optional(Uuid,), SESSION_OF, tenant_id.0, id.0)?;
    Ok(row.map(|(id,)| SessionId(id)))
}
