//! Rows of `session_failures`: the failures of sessions that ended badly.

pub mod cause;
pub mod regroup;
pub mod visit;

use crate::{
    engine::{Conn, Page, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    failure::{FailureState, remediation},
    id::{ActionId, EventId, SessionId, TenantId},
    session::{Session, Status},
};
use uuid::Uuid;

macro_rules! failure_select {
    ($rest:expr) => {
        concat!(
            "SELECT f.id, f.session_id, s.title, s.status, s.agent_slug, f.action_id, f.code, f.message, f.at, \
             f.acknowledged_by, f.acknowledged_at FROM session_failures f \
             JOIN sessions s ON s.tenant_id = f.tenant_id AND s.id = f.session_id WHERE f.tenant_id = $1 ",
            $rest
        )
    };
}
pub(crate) use failure_select;
// One text per state, so that each walks its own index.
macro_rules! list_select {
    ($state:literal) => {
        failure_select!(concat!(
            $state,
            " AND s.private_to IS NULL AND (f.id < $2 OR $2 IS NULL) ORDER BY f.id DESC LIMIT $3"
        ))
    };
}

statements! {
    const INSERT: &str = "INSERT INTO session_failures (tenant_id, id, session_id, action_id, code, message, remediation, at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    const ACKNOWLEDGE: &str = "UPDATE session_failures SET acknowledged_by = $3, acknowledged_at = $4 \
         WHERE tenant_id = $1 AND session_id = $2 AND acknowledged_at IS NULL";
    const BY_SESSION: &str = failure_select!("AND f.session_id = $2");
    const LIST: &str = list_select!("");
    const LIST_OPEN: &str = list_select!("AND f.acknowledged_at IS NULL");
    const LIST_ACKNOWLEDGED: &str = list_select!("AND f.acknowledged_at IS NOT NULL");
    const OF_SESSIONS_SQLITE: &str = failure_select!("AND f.session_id IN (SELECT unhex(value) FROM json_each($2))");
    const OF_SESSIONS_POSTGRES: &str = failure_select!("AND f.session_id = ANY($2)");
}

/// The failure of a session that ended badly, and who has acknowledged it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureRecord {
    /// The event that ended the session.
    pub id: EventId,
    /// Session that failed or expired.
    pub session_id: SessionId,
    /// Title of the session.
    pub title: String,
    /// Status of the session: failed or expired.
    pub status: Status,
    /// Slug of the session's agent.
    pub agent_slug: Option<String>,
    /// The action that the session executed.
    pub action_id: Option<ActionId>,
    /// Machine-readable error code.
    pub code: String,
    /// What went wrong, for people.
    pub message: String,
    /// What a person can do about the failure. It follows from the code, and the column of the table is not read.
    pub remediation: &'static str,
    /// Time the session ended (UTC).
    pub at: Timestamp,
    /// Who acknowledged the failure.
    pub acknowledged_by: Option<String>,
    /// Time the failure was acknowledged (UTC).
    pub acknowledged_at: Option<Timestamp>,
}

record! {
    struct Row of "session_failures" {
        id: EventId,
        session_id: SessionId,
        title: String,
        status: Status,
        agent_slug: Option<String>,
        action_id: Option<ActionId>,
        code: String,
        message: String,
        at: Timestamp,
        acknowledged_by: Option<String>,
        acknowledged_at: Option<Timestamp>,
    }
}

impl From<Row> for FailureRecord {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            session_id: row.session_id,
            title: row.title,
            status: row.status,
            agent_slug: row.agent_slug,
            action_id: row.action_id,
            remediation: remediation(&row.code),
            code: row.code,
            message: row.message,
            at: row.at,
            acknowledged_by: row.acknowledged_by,
            acknowledged_at: row.acknowledged_at,
        }
    }
}

/// A failure that is to be recorded.
#[derive(Debug, Clone)]
pub struct NewFailure<'a> {
    /// The event that ended the session.
    pub id: EventId,
    /// Machine-readable error code.
    pub code: &'a str,
    /// What went wrong, for people.
    pub message: &'a str,
    /// Time the session ended (UTC).
    pub at: Timestamp,
}

/// Records that a session ended badly, in the transaction that ends it.
pub async fn insert(tx: &mut WriteTx<'_>, session: &Session, failure: NewFailure<'_>) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        session.tenant_id.0,
        failure.id.0,
        session.id.0,
        session.action_id.map(|id| id.0),
        failure.code,
        failure.message,
        remediation(failure.code),
        to_micros(failure.at),
    )?;
    Ok(())
}

/// The failure of a session of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<Option<FailureRecord>> {
    Ok(run!(conn, fetch_optional Row, BY_SESSION, tenant_id.0, session_id.0)?.map(FailureRecord::from))
}

/// The failures of these sessions. The caller limits the number of ids.
pub async fn of_sessions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    sessions: &[SessionId],
) -> Result<Vec<FailureRecord>> {
    if sessions.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<Row> = match conn {
        Conn::Sqlite(c) => {
            let hex: Vec<String> = sessions.iter().map(|id| id.0.simple().to_string()).collect();
            let hex = serde_json::Value::from(hex).to_string();
            c.fetch_all::<Row>(OF_SESSIONS_SQLITE, &[&tenant_id.0, &hex])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = sessions.iter().map(|id| id.0).collect();
            sqlx::query_as(OF_SESSIONS_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    };
    Ok(rows.into_iter().map(FailureRecord::from).collect())
}

/// One page of failures, newest first. With `before`, only older ones.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    state: Option<FailureState>,
    before: Option<EventId>,
    limit: u32,
) -> Result<Page<FailureRecord>> {
    let sql = match state {
        None => LIST,
        Some(FailureState::Open) => LIST_OPEN,
        Some(FailureState::Acknowledged) => LIST_ACKNOWLEDGED,
    };
    let rows = run!(conn, fetch_all Row, sql, tenant_id.0, before.map(|id| id.0), i64::from(limit) + 1)?;
    Ok(Page::of(rows.into_iter().map(FailureRecord::from).collect(), limit))
}

/// Acknowledges a failure. Returns `false` if there is none, or if it is acknowledged already.
pub async fn acknowledge(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    by: &str,
    at: Timestamp,
) -> Result<bool> {
    Ok(run!(tx.conn(), execute, ACKNOWLEDGE, tenant_id.0, session_id.0, by, to_micros(at))? == 1)
}
