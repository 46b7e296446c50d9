//! Rows of `tool_drafts`: the fields of forms of tools that have not been run yet.

use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    session::hex_list,
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId, ToolId},
    tool::draft::Draft,
};
use uuid::Uuid;

macro_rules! draft_select {
    ($rest:literal) => {
        concat!(
            "SELECT session_id, tool_id, created_by, rev, content, saved_at FROM tool_drafts WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}

statements! {
    const BY_ID: &str = draft_select!("session_id = $2");
    const BY_IDS_SQLITE: &str = draft_select!("session_id IN (SELECT unhex(value) FROM json_each($2))");
    const BY_IDS_POSTGRES: &str = draft_select!("session_id = ANY($2)");
    const OF_CALLER: &str = draft_select!("tool_id = $2 AND created_by = $3 ORDER BY session_id DESC LIMIT $4");
    const INSERT: &str = "INSERT INTO tool_drafts (tenant_id, session_id, tool_id, created_by, rev, content, saved_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    const SAVE: &str = "UPDATE tool_drafts SET rev = $3, content = $4, saved_at = $5 \
         WHERE tenant_id = $1 AND session_id = $2";
    const DELETE: &str = "DELETE FROM tool_drafts WHERE tenant_id = $1 AND session_id = $2";
    const LEFT: &str =
        "SELECT tenant_id, session_id FROM tool_drafts WHERE saved_at <= $1 ORDER BY saved_at LIMIT $2";
}

record! {
    /// The fields of a form so far.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ToolDraftRecord of "tool_drafts" {
        /// The session that runs the tool once the draft is complete.
        pub session_id: SessionId,
        /// Id of the tool whose form is filled in.
        pub tool_id: ToolId,
        /// Who began it: `user:…` or `token:…`.
        pub created_by: String,
        /// Number of saves; 1 at first.
        pub rev: u64,
        /// The fields, and which of their changes the log has.
        pub content: Draft,
        /// Time of the last save (UTC).
        pub saved_at: Timestamp,
    }
}

fn json(content: &Draft) -> Result<String> {
    serde_json::to_string(content).map_err(|error| Error::Database(error.to_string()))
}

/// The draft of a session; `None` if it has none, or not any more. The caller of a write holds the session's lock.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Option<ToolDraftRecord>> {
    Ok(run!(conn, fetch_optional ToolDraftRecord, BY_ID, tenant_id.0, id.0)?)
}

/// The drafts of these sessions, in no order.
pub async fn list_by_ids(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[SessionId]) -> Result<Vec<ToolDraftRecord>> {
    Ok(match conn {
        Conn::Sqlite(c) => c.fetch_all::<ToolDraftRecord>(BY_IDS_SQLITE, &[&tenant_id.0, &hex_list(ids)])?,
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as::<_, ToolDraftRecord>(BY_IDS_POSTGRES)
                .bind(tenant_id.0)
                .bind(ids)
                .fetch_all(&mut **c)
                .await?
        }
    })
}

/// The newest drafts of a tool that a caller began, at most `max`.
pub async fn list_of_caller(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    tool_id: ToolId,
    created_by: &str,
    max: u32,
) -> Result<Vec<ToolDraftRecord>> {
    Ok(run!(conn, fetch_all ToolDraftRecord, OF_CALLER, tenant_id.0, tool_id.0, created_by, i64::from(max))?)
}

/// Adds the draft of a session that was just inserted.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, draft: &ToolDraftRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        draft.session_id.0,
        draft.tool_id.0,
        draft.created_by.as_str(),
        draft.rev.cast_signed(),
        json(&draft.content)?.as_str(),
        to_micros(draft.saved_at),
    )?;
    Ok(())
}

/// Writes the fields of a draft. The caller holds the lock of its session.
pub async fn save(tx: &mut WriteTx<'_>, tenant_id: TenantId, draft: &ToolDraftRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        SAVE,
        tenant_id.0,
        draft.session_id.0,
        draft.rev.cast_signed(),
        json(&draft.content)?.as_str(),
        to_micros(draft.saved_at),
    )?;
    Ok(())
}

/// Deletes the draft of a session that runs or has ended. Does nothing if there is none.
pub async fn delete(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, DELETE, tenant_id.0, id.0)?;
    Ok(())
}

/// Drafts of every workspace that were saved last at `saved_until` or before, at most `max`, longest left first.
pub async fn left(conn: &mut Conn<'_>, saved_until: Timestamp, max: u32) -> Result<Vec<(TenantId, SessionId)>> {
    let rows = run!(conn, fetch_all(Uuid, Uuid), LEFT, to_micros(saved_until), i64::from(max))?;
    Ok(rows.into_iter().map(|(tenant, id)| (TenantId(tenant), SessionId(id))).collect())
}
