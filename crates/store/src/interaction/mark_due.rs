//! Rows of `marks_due`: feedback of people that is in the database and not yet in the datalake files.

use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId},
};
use uuid::Uuid;

statements! {
    const INSERT: &str =
        "INSERT INTO marks_due (tenant_id, id, session_id, due_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
    const DUE: &str = "SELECT d.tenant_id, d.id, f.record FROM marks_due d \
         JOIN interaction_feedback f ON f.tenant_id = d.tenant_id AND f.id = d.id WHERE d.due_at <= $1 ORDER BY d.due_at LIMIT $2";
    const POSTPONE: &str = "UPDATE marks_due SET due_at = $2 WHERE due_at <= $1";
    const DELETE: &str = "DELETE FROM marks_due WHERE tenant_id = $1 AND id = $2";
    const DELETE_OF_SESSION: &str = "DELETE FROM marks_due WHERE tenant_id = $1 AND session_id = $2";
}

/// A line of feedback that has to be written to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkDue {
    /// Workspace of the interaction.
    pub tenant_id: TenantId,
    /// Id of the feedback's row.
    pub id: Uuid,
    /// The line, as JSON.
    pub record: String,
}

/// Records that a line of feedback has to be written to a file. It is due at `due_at`, unless [`done`] is
/// called first.
pub async fn push(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (id, session_id): (Uuid, SessionId),
    due_at: Timestamp,
) -> Result<()> {
    run!(tx.conn(), execute, INSERT, tenant_id.0, id, session_id.0, to_micros(due_at))?;
    Ok(())
}

/// At most `limit` due lines, the longest waiting first.
pub async fn due(conn: &mut Conn<'_>, now: Timestamp, limit: u32) -> Result<Vec<MarkDue>> {
    type Row = (Uuid, Uuid, String);
    let rows = run!(conn, fetch_all Row, DUE, to_micros(now), i64::from(limit))?;
    Ok(rows.into_iter().map(|(tenant, id, record)| MarkDue { tenant_id: TenantId(tenant), id, record }).collect())
}

/// Postpones all due lines until `until`.
pub async fn postpone(tx: &mut WriteTx<'_>, now: Timestamp, until: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, POSTPONE, to_micros(now), to_micros(until))?;
    Ok(())
}

/// Records that the line is in its file.
pub async fn done(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: Uuid) -> Result<()> {
    run!(tx.conn(), execute, DELETE, tenant_id.0, id)?;
    Ok(())
}

/// Removes the waiting lines of a session that is being erased.
pub(crate) async fn forget(tx: &mut WriteTx<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_OF_SESSION, tenant_id.0, session_id.0)?;
    Ok(())
}
