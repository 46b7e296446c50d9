//! How the newest session of an action stands (the seed's getTaskStatus).

use super::get;
use crate::{Ledger, Result};
use domain::{
    Scope,
    id::{ActionId, SessionId},
    session::Status,
};

/// The newest session of an action, in brief.
#[derive(Debug, Clone)]
pub struct TaskStatus {
    /// The action.
    pub action_id: ActionId,
    /// Its newest session.
    pub session_id: Option<SessionId>,
    /// That session's status.
    pub status: Option<Status>,
    /// From its start to its end, or to now.
    pub duration_ms: Option<u64>,
    /// Its error.
    pub error: Option<String>,
}

/// The newest session of an action, in brief.
pub async fn task_status(ledger: &Ledger, scope: &Scope, id: ActionId) -> Result<TaskStatus> {
    let action = get(ledger, scope, id).await?;
    let tenant_id = scope.tenant_id;
    let newest = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::session::newest_of_action(conn, tenant_id, id)))
        .await?;
    let now = ledger.now();
    let duration = newest.as_ref().and_then(|s| Some(s.completed_at.unwrap_or(now) - s.started_at?));
    Ok(TaskStatus {
        action_id: action.id,
        session_id: newest.as_ref().map(|s| s.id),
        status: newest.as_ref().map(|s| s.status),
        duration_ms: duration.map(|d| d.num_milliseconds().max(0).cast_unsigned()),
        error: newest.and_then(|s| s.error_message),
    })
}
