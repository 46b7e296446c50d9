//! The caller's running human session, and their working day.

use super::person;
use crate::{ActionRecord, Ledger, Result, work_queue::midnight_in};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    human::{TaskTime, WorkInterval, time_per_task},
    id::{TenantId, UserId},
    limit::{WORKING_HOURS_MAX, WORKING_SESSIONS_COUNTED_MAX, WORKING_SESSIONS_LISTED_MAX},
    session::Session,
};
use store::Conn;

/// How long before midnight a session may have started and still overlap the day: the longest session, plus a
/// day for a late sweep.
const REACH: TimeDelta = TimeDelta::hours(WORKING_HOURS_MAX + 24);

/// A person's working day.
#[derive(Debug, Clone)]
pub struct Today {
    /// Time for each task, longest first.
    pub tasks: Vec<TaskTime>,
    /// The human sessions, newest first, at most 100.
    pub sessions: Vec<Session>,
}

/// Returns the caller's human sessions that overlap the caller's local day, and the time on each task within
/// that day.
///
/// # Errors
/// [`crate::Error::Forbidden`] if the caller is not a person; [`crate::Error::Invalid`] if there is no such time zone.
pub async fn today(ledger: &Ledger, scope: &Scope, timezone: &str) -> Result<Today> {
    let user_id = person(scope)?;
    let now = ledger.now();
    let midnight = midnight_in(now, timezone)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| today_on(conn, tenant_id, user_id, midnight, now).await);
    read.await
}

/// [`today`] on an open connection.
pub(crate) async fn today_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    user_id: UserId,
    midnight: Timestamp,
    now: Timestamp,
) -> Result<Today> {
    let spans = (midnight - REACH, midnight);
    let mut sessions = store::human::since(conn, tenant_id, user_id, spans, WORKING_SESSIONS_COUNTED_MAX).await?;
    let stretches: Vec<WorkInterval> = sessions.iter().filter_map(stretch).collect();
    sessions.truncate(WORKING_SESSIONS_LISTED_MAX);
    Ok(Today { tasks: time_per_task(&stretches, midnight, now), sessions })
}

fn stretch(session: &Session) -> Option<WorkInterval> {
    Some(WorkInterval {
        task_id: session.action_id?,
        title: session.title.clone(),
        from: session.started_at?,
        to: session.completed_at(),
    })
}

/// A running human session and its task.
#[derive(Debug, Clone)]
pub struct Active {
    /// The person's running human session.
    pub session: Session,
    /// Action that the person works on.
    pub task: ActionRecord,
}

/// Returns the caller's running human session; `None` if there is none.
///
/// # Errors
/// [`crate::Error::Forbidden`] if the caller is not a person.
pub async fn active(ledger: &Ledger, scope: &Scope) -> Result<Option<Active>> {
    let user_id = person(scope)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| {
        let Some(session) = store::human::active(conn, tenant_id, user_id).await? else { return Ok(None) };
        let Some(task_id) = session.action_id else { return Ok(None) };
        let task = store::action::find(conn, tenant_id, task_id).await?;
        Ok(task.map(|task| Active { session, task }))
    });
    Ok(read.await?)
}
