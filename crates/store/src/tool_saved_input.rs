//! Rows of `tool_saved_inputs`: inputs of tools that people saved under a name.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{TenantId, ToolId, UserId},
};

statements! {
    const LIST: &str = "SELECT name, fields, saved_at FROM tool_saved_inputs \
         WHERE tenant_id = $1 AND user_id = $2 AND tool_id = $3 ORDER BY name LIMIT $4";
    const SAVE: &str = "INSERT INTO tool_saved_inputs (tenant_id, user_id, tool_id, name, fields, saved_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, user_id, tool_id, name) \
         DO UPDATE SET fields = excluded.fields, saved_at = excluded.saved_at";
    const DELETE: &str =
        "DELETE FROM tool_saved_inputs WHERE tenant_id = $1 AND user_id = $2 AND tool_id = $3 AND name = $4";
    const DELETE_OF_PERSON: &str = "DELETE FROM tool_saved_inputs WHERE tenant_id = $1 AND user_id = $2";
}

record! {
    /// An input of a tool with a name.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SavedInputRecord of "tool_saved_inputs" {
        /// Name, unique among those of the person for the tool.
        pub name: String,
        /// Fields by name, without private values: a JSON object.
        pub fields: String,
        /// Time it was saved last (UTC).
        pub saved_at: Timestamp,
    }
}

/// The inputs that a person saved for a tool, by name, at most `max`.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (user_id, tool_id): (UserId, ToolId),
    max: u32,
) -> Result<Vec<SavedInputRecord>> {
    Ok(run!(conn, fetch_all SavedInputRecord, LIST, tenant_id.0, user_id.0, tool_id.0, i64::from(max))?)
}

/// Saves an input, in place of the one with this name.
pub async fn save(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (user_id, tool_id): (UserId, ToolId),
    input: &SavedInputRecord,
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        SAVE,
        tenant_id.0,
        user_id.0,
        tool_id.0,
        input.name.as_str(),
        input.fields.as_str(),
        to_micros(input.saved_at),
    )?;
    Ok(())
}

/// Deletes an input. `false` if the person has none with this name.
pub async fn delete(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (user_id, tool_id): (UserId, ToolId),
    name: &str,
) -> Result<bool> {
    Ok(run!(tx.conn(), execute, DELETE, tenant_id.0, user_id.0, tool_id.0, name)? == 1)
}

/// Deletes all inputs that a person saved.
pub async fn delete_of_person(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_OF_PERSON, tenant_id.0, user_id.0)?;
    Ok(())
}
