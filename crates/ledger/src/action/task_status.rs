//! The status of the newest session of an action. The API operation is `getTaskStatus`.

use super::get_on;
use crate::{Ledger, Result, guard::require, visibility::can_see};
use domain::{
    Scope, Timestamp,
    event::Event,
    id::{ActionId, SessionId, TenantId},
    limit::TASK_STATUS_EVENTS_MAX,
    role::Permission,
    session::{Session, Status},
};
use std::collections::HashMap;
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

/// The status of an action's newest session, with its newest events.
#[derive(Debug, Clone)]
pub struct TaskStatusAndEvents {
    /// Status, duration and error.
    pub status: TaskStatus,
    /// The session's newest events, oldest first, at most [`TASK_STATUS_EVENTS_MAX`]. Empty if the caller cannot see
    /// the session.
    pub recent_events: Vec<Event>,
}

/// Returns the newest session of an action: its status, duration, error and newest events.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such action.
pub async fn task_status(ledger: &Ledger, scope: &Scope, id: ActionId) -> Result<TaskStatusAndEvents> {
    require(scope, Permission::Read)?;
    let (reader, tenant_id, now) = (*scope, scope.tenant_id, ledger.now());
    let read = ledger.snapshot(scope, async move |conn| {
        get_on(conn, tenant_id, id).await?;
        let newest = store::session::newest_of_action(conn, tenant_id, id).await?;
        let recent_events = match &newest {
            Some(session) if can_see(conn, &reader, session).await? => {
                let end = session.head_sequence + 1;
                store::event::before(conn, tenant_id, session.id, end, &[], TASK_STATUS_EVENTS_MAX).await?.items
            }
            _ => Vec::new(),
        };
        Ok(TaskStatusAndEvents { status: status_of(id, newest, now), recent_events })
    });
    read.await
}

/// The status alone, on an open connection. The action must exist.
pub(crate) async fn task_status_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: ActionId,
    now: Timestamp,
) -> Result<TaskStatus> {
    let newest = store::session::newest_of_action(conn, tenant_id, id).await?;
    Ok(status_of(id, newest, now))
}

/// The status of each of these actions, in their order, with one query.
pub(crate) async fn task_statuses_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    actions: &[ActionId],
    now: Timestamp,
) -> Result<Vec<TaskStatus>> {
    let newest = store::session::newest_of_actions(conn, tenant_id, actions).await?;
    let mut newest: HashMap<_, _> = newest.into_iter().map(|session| (session.action_id, session)).collect();
    Ok(actions.iter().map(|id| status_of(*id, newest.remove(&Some(*id)), now)).collect())
}

/// The status of an action whose newest session this is.
fn status_of(action_id: ActionId, newest: Option<Session>, now: Timestamp) -> TaskStatus {
    let duration = newest.as_ref().and_then(|s| Some(s.completed_at().unwrap_or(now) - s.started_at?));
    TaskStatus {
        action_id,
        session_id: newest.as_ref().map(|s| s.id),
        status: newest.as_ref().map(|s| s.status()),
        duration_ms: duration.map(|d| d.num_milliseconds().max(0).cast_unsigned()),
        error: newest.and_then(|s| s.error_message().map(str::to_owned)),
    }
}
