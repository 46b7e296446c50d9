//! Rows of `tool_run_outputs`: what becomes of the results of runs of tools.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::id::{ActionId, EntityId, SessionId, TenantId};

statements! {
    const FIND: &str = "SELECT session_id, action_id, entity_id, fields, requested_by, written_session_id, refused \
         FROM tool_run_outputs WHERE tenant_id = $1 AND session_id = $2";
    const INSERT: &str = "INSERT INTO tool_run_outputs (tenant_id, session_id, action_id, entity_id, fields, requested_by) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    const SETTLE: &str = "UPDATE tool_run_outputs SET written_session_id = $3, refused = $4 \
         WHERE tenant_id = $1 AND session_id = $2 AND written_session_id IS NULL AND refused IS NULL";
    const ERASE: &str = "DELETE FROM tool_run_outputs WHERE tenant_id = $1 AND session_id = $2";
}

record! {
    /// The task that writes the result of a run to an entity.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ToolRunOutputRecord of "tool_run_outputs" {
        /// Session of the run.
        pub session_id: SessionId,
        /// Task whose output the result is.
        pub action_id: ActionId,
        /// Entity that is written; `None` for the one that the task is about.
        pub entity_id: Option<EntityId>,
        /// A JSON object: a JSON Pointer into the result for each field of the entity.
        pub fields: String,
        /// With whose rights it is written: `user:…` or `token:…`.
        pub requested_by: String,
        /// Session of the task, once it has begun.
        pub written_session_id: Option<SessionId>,
        /// Why the result was not written.
        pub refused: Option<String>,
    }
}

/// What becomes of the result of a run; `None` if nothing was asked for.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Option<ToolRunOutputRecord>> {
    Ok(run!(conn, fetch_optional ToolRunOutputRecord, FIND, tenant_id.0, id.0)?)
}

/// Adds what becomes of the result of a run that begins.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &ToolRunOutputRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        record.session_id.0,
        record.action_id.0,
        record.entity_id.map(|id| id.0),
        record.fields.as_str(),
        record.requested_by.as_str(),
    )?;
    Ok(())
}

/// Records that the result was given to its task, or why it was not. The first record stays.
pub async fn settle(
    tx: &mut WriteTx<'_>,
    (tenant_id, id): (TenantId, SessionId),
    written: Option<SessionId>,
    refused: Option<&str>,
) -> Result<()> {
    run!(tx.conn(), execute, SETTLE, tenant_id.0, id.0, written.map(|id| id.0), refused)?;
    Ok(())
}

/// Deletes the row of a session whose content is erased.
pub async fn erase(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, ERASE, tenant_id.0, id.0)?;
    Ok(())
}
