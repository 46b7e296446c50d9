//! Rows of `captures_due`: turns that ended and are to be captured.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId},
    session::Status,
};
use uuid::Uuid;

macro_rules! claim {
    ($lock:literal) => {
        concat!(
            "UPDATE captures_due SET due_at = $2 WHERE (tenant_id, session_id, sequence) IN (\
             SELECT tenant_id, session_id, sequence FROM captures_due WHERE due_at <= $1 ORDER BY due_at LIMIT $3",
            $lock,
            ") RETURNING tenant_id, session_id, sequence, status, ended_at"
        )
    };
}

statements! {
    const INSERT: &str = "INSERT INTO captures_due (tenant_id, session_id, sequence, status, ended_at, due_at) \
         VALUES ($1, $2, $3, $4, $5, $5) ON CONFLICT DO NOTHING";
    const INSERT_IF_ANSWERED: &str = "INSERT INTO captures_due (tenant_id, session_id, sequence, status, ended_at, due_at) \
         SELECT $1, $2, $3, $4, $5, $5 WHERE EXISTS (SELECT 1 FROM session_events \
           WHERE tenant_id = $1 AND session_id = $2 AND event_type = $6) \
         OR EXISTS (SELECT 1 FROM gates WHERE tenant_id = $1 AND session_id = $2) ON CONFLICT DO NOTHING";
    const ANY_DUE: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM captures_due WHERE due_at <= $1 LIMIT 1) AS one";
    const CLAIM_SQLITE: &str = claim!("");
    const CLAIM_POSTGRES: &str = claim!(" FOR UPDATE SKIP LOCKED");
    const DELETE_SQLITE: &str = "DELETE FROM captures_due WHERE tenant_id = $1 AND session_id = $2 AND sequence = $3";
    const DELETE_ALL_POSTGRES: &str = "DELETE FROM captures_due d \
         USING UNNEST($1::uuid[], $2::uuid[], $3::bigint[]) AS taken (tenant_id, session_id, sequence) \
         WHERE d.tenant_id = taken.tenant_id AND d.session_id = taken.session_id AND d.sequence = taken.sequence \
         RETURNING d.tenant_id, d.session_id, d.sequence";
    const DELETE_OF_SESSION: &str = "DELETE FROM captures_due WHERE tenant_id = $1 AND session_id = $2";
}

record! {
    /// A turn that ended and is to be captured: all events of a session up to a sequence.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct DueRecord of "captures_due" {
        /// Workspace of the session.
        pub tenant_id: TenantId,
        /// Session whose events are captured.
        pub session_id: SessionId,
        /// Newest sequence of the session when the turn ended.
        pub sequence: u64,
        /// Status of the session when the turn ended.
        pub status: Status,
        /// Time of the event that ended the turn (UTC).
        pub ended_at: Timestamp,
    }
}

/// Records that a turn ended, in the transaction that ends it.
pub async fn push(tx: &mut WriteTx<'_>, due: DueRecord) -> Result<()> {
    let (tenant, session, sequence) = (due.tenant_id.0, due.session_id.0, due.sequence.cast_signed());
    let (status, ended_at) = (due.status.as_str(), to_micros(due.ended_at));
    run!(tx.conn(), execute, INSERT, tenant, session, sequence, status, ended_at)?;
    Ok(())
}

/// Like [`push`], but only if there may be something to capture: an event of the kind `answer`, or a gate
/// of the session. Otherwise it looks into two indexes and adds no row.
pub async fn push_if_answered(tx: &mut WriteTx<'_>, due: DueRecord, answer: Option<&str>) -> Result<()> {
    let (tenant, session, sequence) = (due.tenant_id.0, due.session_id.0, due.sequence.cast_signed());
    let (status, ended_at, kind) = (due.status.as_str(), to_micros(due.ended_at), answer.unwrap_or_default());
    run!(tx.conn(), execute, INSERT_IF_ANSWERED, tenant, session, sequence, status, ended_at, kind)?;
    Ok(())
}

/// Whether a turn is due. A check that finds none needs no write transaction.
pub async fn any_due(conn: &mut Conn<'_>, now: Timestamp) -> Result<bool> {
    Ok(run!(conn, fetch_one(i64,), ANY_DUE, to_micros(now))?.0 > 0)
}

/// Claims at most `max` due turns of any workspace until `until`.
pub async fn claim_due(tx: &mut WriteTx<'_>, now: Timestamp, until: Timestamp, max: u32) -> Result<Vec<DueRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { CLAIM_SQLITE } else { CLAIM_POSTGRES };
    Ok(run!(tx.conn(), fetch_all DueRecord, sql, to_micros(now), to_micros(until), i64::from(max))?)
}

/// Removes turns that are captured in this transaction. Returns those that were removed: the others were captured
/// before, or their session was erased.
pub async fn done(tx: &mut WriteTx<'_>, due: &[DueRecord]) -> Result<Vec<DueRecord>> {
    type Key = (Uuid, Uuid, i64);
    let mut removed = Vec::with_capacity(due.len());
    match tx.conn() {
        Conn::Sqlite(c) => {
            for due in due {
                if c.execute(DELETE_SQLITE, &[&due.tenant_id.0, &due.session_id.0, &due.sequence.cast_signed()])? > 0 {
                    removed.push(*due);
                }
            }
        }
        Conn::Postgres(c) => {
            let keys = sqlx::query_as::<_, Key>(DELETE_ALL_POSTGRES)
                .bind(due.iter().map(|due| due.tenant_id.0).collect::<Vec<_>>())
                .bind(due.iter().map(|due| due.session_id.0).collect::<Vec<_>>())
                .bind(due.iter().map(|due| due.sequence.cast_signed()).collect::<Vec<_>>())
                .fetch_all(&mut **c)
                .await?;
            let key = |due: &DueRecord| (due.tenant_id.0, due.session_id.0, due.sequence.cast_signed());
            removed.extend(due.iter().filter(|due| keys.contains(&key(due))));
        }
    }
    Ok(removed)
}

/// Removes the turns of a session that is being erased.
pub(super) async fn forget(tx: &mut WriteTx<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_OF_SESSION, tenant_id.0, session_id.0)?;
    Ok(())
}
