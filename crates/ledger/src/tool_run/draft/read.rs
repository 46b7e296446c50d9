//! Reading drafts.

use super::ToolDraft;
use crate::{Ledger, Result, ToolDraftRecord, guard::require, tool_run};
use domain::{
    Scope,
    id::{SessionId, ToolId},
    limit::TOOL_DRAFTS_MAX,
    role::Permission,
    session::{Session, Status},
};
use store::Conn;

/// Returns the drafts of these sessions, which the caller has read. Sessions that run or have ended have none.
pub async fn of_sessions(ledger: &Ledger, scope: &Scope, sessions: &[Session]) -> Result<Vec<ToolDraftRecord>> {
    require(scope, Permission::Read)?;
    let drafts = sessions.iter().filter(|session| session.status() == Status::Draft);
    let (tenant_id, ids) = (scope.tenant_id, drafts.map(|session| session.id).collect::<Vec<SessionId>>());
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    ledger.snapshot(scope, async move |conn| Ok(store::tool_draft::list_by_ids(conn, tenant_id, &ids).await?)).await
}

/// Returns the session of a tool with its draft, if its run has not begun.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session, the caller cannot see it, or it is of another type.
pub async fn get(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<ToolDraft> {
    let session = tool_run::get(ledger, scope, id).await?;
    let draft = of_sessions(ledger, scope, std::slice::from_ref(&session)).await?.pop();
    Ok(ToolDraft { session, draft })
}

/// The caller's drafts of a tool, the one that was saved last first.
pub(crate) async fn newest_on(conn: &mut Conn<'_>, scope: &Scope, tool_id: ToolId) -> Result<Vec<ToolDraftRecord>> {
    let created_by = scope.caller.to_string();
    let found = store::tool_draft::list_of_caller(conn, scope.tenant_id, tool_id, &created_by, TOOL_DRAFTS_MAX);
    let mut found = found.await?;
    found.sort_by_key(|draft| std::cmp::Reverse((draft.saved_at, draft.session_id)));
    Ok(found)
}
