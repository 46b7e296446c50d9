//! Rows of `tool_steps`: the tries of the steps of composite tools.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId},
    tool::composition::StepState,
};
use uuid::Uuid;

statements! {
    const LIST: &str = "SELECT position, attempt, state, child_id, not_before, error_code FROM tool_steps \
         WHERE tenant_id = $1 AND session_id = $2 ORDER BY position, attempt";
    const SAVE: &str = "INSERT INTO tool_steps (tenant_id, session_id, position, attempt, state, child_id, not_before, \
         error_code) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (tenant_id, session_id, position, attempt) \
         DO UPDATE SET state = excluded.state, child_id = excluded.child_id, not_before = excluded.not_before, \
         error_code = excluded.error_code";
    const DELETE_WAITING: &str =
        "DELETE FROM tool_steps WHERE tenant_id = $1 AND session_id = $2 AND not_before IS NOT NULL";
    // Driven by `tool_steps_waiting`.
    const DUE: &str =
        "SELECT tenant_id, session_id FROM tool_steps WHERE not_before <= $1 ORDER BY not_before LIMIT $2";
}

record! {
    /// One try of a step.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct StepRecord of "tool_steps" {
        /// Index of the step in its version.
        pub position: u32,
        /// Number of the try; the first is 1.
        pub attempt: u32,
        /// How far it is.
        pub state: StepState,
        /// Session that runs it; `None` while it waits, and if none was started.
        pub child_id: Option<SessionId>,
        /// Time before which a waiting one does not begin (UTC).
        pub not_before: Option<Timestamp>,
        /// Error code of one that failed.
        pub error_code: Option<String>,
    }
}

/// The tries of a run, in the order of the steps, the first one of each first.
pub async fn list(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Vec<StepRecord>> {
    Ok(run!(conn, fetch_all StepRecord, LIST, tenant_id.0, id.0)?)
}

/// Adds a try or changes it. The caller holds the lock of the run.
pub async fn save(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId, step: &StepRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        SAVE,
        tenant_id.0,
        id.0,
        i64::from(step.position),
        i64::from(step.attempt),
        step.state.as_str(),
        step.child_id.map(|id| id.0),
        step.not_before.map(to_micros),
        step.error_code.as_deref(),
    )?;
    Ok(())
}

/// Deletes the tries of a run that have not begun.
pub async fn delete_waiting(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_WAITING, tenant_id.0, id.0)?;
    Ok(())
}

/// Runs of every workspace with a try whose pause is over, at most `max`, the longest due first. A run is named once
/// for each try.
pub async fn due(conn: &mut Conn<'_>, now: Timestamp, max: u32) -> Result<Vec<(TenantId, SessionId)>> {
    let rows = run!(conn, fetch_all(Uuid, Uuid), DUE, to_micros(now), i64::from(max))?;
    Ok(rows.into_iter().map(|(tenant_id, id)| (TenantId(tenant_id), SessionId(id))).collect())
}
