//! Rows of `captures_forgotten`: sessions of which no training data is kept.

use super::{line, mark_due};
use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::{SessionId, TenantId},
};
use uuid::Uuid;

statements! {
    const INSERT: &str = "INSERT INTO captures_forgotten (tenant_id, session_id, forgotten_at) VALUES ($1, $2, $3) \
         ON CONFLICT DO NOTHING";
    const COUNT: &str = "SELECT COUNT(*) FROM captures_forgotten WHERE tenant_id = $1 AND session_id = $2";
    const SESSIONS_AFTER: &str = "SELECT i.session_id FROM interactions i WHERE i.tenant_id = $1 AND i.session_id > $2 \
         UNION SELECT d.session_id FROM captures_due d WHERE d.tenant_id = $1 AND d.session_id > $2 ORDER BY 1 LIMIT $3";
    const OF_SESSION: &str =
        "SELECT COUNT(*), MIN(recorded_at) FROM interactions WHERE tenant_id = $1 AND session_id = $2";
}

/// What is captured of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CapturedCount {
    /// Number of prompts with answers.
    pub interactions: u64,
    /// When the first of them was recorded (UTC); `None` if there are none.
    pub first_at: Option<Timestamp>,
}

/// Deletes what is captured of a session, with feedback and outcomes, and records that nothing of it is captured any
/// more.
pub async fn forget(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    at: Timestamp,
) -> Result<CapturedCount> {
    let found = count(tx.conn(), tenant_id, session_id).await?;
    run!(tx.conn(), execute, INSERT, tenant_id.0, session_id.0, to_micros(at))?;
    mark_due::forget(tx, tenant_id, session_id).await?;
    line::forget(tx, tenant_id, session_id).await?;
    Ok(found)
}

/// Whether nothing of a session is captured any more.
pub async fn is_forgotten(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<bool> {
    Ok(run!(conn, fetch_one(i64,), COUNT, tenant_id.0, session_id.0)?.0 > 0)
}

/// At most `limit` sessions after this one of which something is captured or going to be, in the order of their ids.
pub async fn sessions_after(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    after: SessionId,
    limit: u32,
) -> Result<Vec<SessionId>> {
    let rows = run!(conn, fetch_all(Uuid,), SESSIONS_AFTER, tenant_id.0, after.0, i64::from(limit))?;
    Ok(rows.into_iter().map(|(id,)| SessionId(id)).collect())
}

/// Counts what is captured of a session.
pub async fn count(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<CapturedCount> {
    type Row = (i64, Option<i64>);
    let (interactions, first) = run!(conn, fetch_one Row, OF_SESSION, tenant_id.0, session_id.0)?;
    Ok(CapturedCount { interactions: interactions.cast_unsigned(), first_at: first.map(from_micros) })
}
