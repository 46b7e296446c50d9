//! The status of the newest session of an action. The API operation is `getTaskStatus`.

use super::get_on;
use crate::{Ledger, Result, guard::require};
use domain::{
    Scope, Timestamp,
    id::{ActionId, SessionId, TenantId},
    role::Permission,
    session::Status,
};
use store::Conn;

/// The newest session of an action: its status, duration and error.
#[derive(Debug, Clone)]
pub struct TaskStatus {
    /// Action whose newest session is described.
    pub action_id: ActionId,
    /// Its newest session; `None` if it never had one.
    pub session_id: Option<SessionId>,
    /// That session's status.
    pub status: Option<Status>,
    /// Milliseconds from the session's start to its end, or to now. `None` if it has not started.
    pub duration_ms: Option<u64>,
    /// The error message, if the session failed.
    pub error: Option<String>,
}

/// Returns the newest session of an action: its status, duration and error.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such action.
pub async fn task_status(ledger: &Ledger, scope: &Scope, id: ActionId) -> Result<TaskStatus> {
    require(scope, Permission::Read)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    let read = ledger.snapshot(scope, move |conn| {
        Box::pin(async move {
            get_on(conn, tenant_id, id).await?;
            task_status_on(conn, tenant_id, id, now).await
        })
    });
    read.await
}

/// [`task_status`] on an open connection. The action must exist.
pub(crate) async fn task_status_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: ActionId,
    now: Timestamp,
) -> Result<TaskStatus> {
    let newest = store::session::newest_of_action(conn, tenant_id, id).await?;
    let duration = newest.as_ref().and_then(|s| Some(s.completed_at().unwrap_or(now) - s.started_at?));
    Ok(TaskStatus {
        action_id: id,
        session_id: newest.as_ref().map(|s| s.id),
        status: newest.as_ref().map(|s| s.status()),
        duration_ms: duration.map(|d| d.num_milliseconds().max(0).cast_unsigned()),
        error: newest.and_then(|s| s.error_message().map(str::to_owned)),
    })
}
