//! Reading paced runs.

use super::{is_shown, not_found};
use crate::{
    Ledger, ListPage, Listed, PacedRunRecord, Result,
    cursor::{List, encode},
    guard::require,
    session::visible_on,
};
use domain::{
    Scope,
    id::{PacedRunId, SessionId},
    paced_run::Outcome,
    role::Permission,
    session::Status,
};
use std::collections::HashMap;
use store::{Conn, Page};

/// Number of sessions of a paced run by their outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PacedCounts {
    /// Sessions that wait for their turn.
    pub waiting: u64,
    /// New sessions that have not ended.
    pub running: u64,
    /// New sessions that were completed.
    pub completed: u64,
    /// New sessions that ended in another way.
    pub failed: u64,
    /// Sessions that someone had run again before their turn came.
    pub already: u64,
    /// Sessions that cannot be run again.
    pub refused: u64,
    /// Sessions that waited when the run was cancelled.
    pub cancelled: u64,
}

impl PacedCounts {
    /// Number of sessions that the paced run has started.
    pub const fn started(&self) -> u64 {
        self.running + self.completed + self.failed
    }

    fn add(&mut self, outcome: Outcome, status: Option<Status>, count: u64) {
        *match (outcome, status) {
            (Outcome::Waiting, _) => &mut self.waiting,
            (Outcome::Started, Some(Status::Completed)) => &mut self.completed,
            (Outcome::Started, Some(status)) if !status.is_final() => &mut self.running,
            // A session that no longer exists has ended.
            (Outcome::Started, _) => &mut self.failed,
            (Outcome::Already, _) => &mut self.already,
            (Outcome::Refused, _) => &mut self.refused,
            (Outcome::Cancelled, _) => &mut self.cancelled,
        } += count;
    }
}

/// A paced run with its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacedRun {
    /// The stored request and its state.
    pub record: PacedRunRecord,
    /// Its sessions by their outcome.
    pub counts: PacedCounts,
}

/// One session of a paced run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacedSession {
    /// The session that is run again.
    pub id: SessionId,
    /// Its title; `None` if the caller cannot see it.
    pub title: Option<String>,
    /// Whether it waits, was started, or why it was not.
    pub outcome: Outcome,
    /// The session that runs it again.
    pub new_session_id: Option<SessionId>,
    /// Status of that session now.
    pub status: Option<Status>,
    /// Why it cannot be run again.
    pub reason: Option<String>,
}

/// A paced run with its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacedRunDetail {
    /// The run and its numbers.
    pub run: PacedRun,
    /// Its sessions in the order in which they are started.
    pub sessions: Vec<PacedSession>,
}

/// Returns a paced run with its sessions.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such paced run, or it is of someone else and the caller may not manage
/// sessions of others.
pub async fn get(ledger: &Ledger, scope: &Scope, id: PacedRunId) -> Result<PacedRunDetail> {
    require(scope, Permission::Read)?;
    let caller = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let found = store::paced_run::find(conn, caller.tenant_id, id).await?;
        let record = found.filter(|run| is_shown(&caller, run)).ok_or_else(not_found)?;
        detail_on(conn, &caller, record).await
    });
    read.await
}

/// [`get`] on an open connection, for a record that the caller may see.
pub(super) async fn detail_on(conn: &mut Conn<'_>, scope: &Scope, record: PacedRunRecord) -> Result<PacedRunDetail> {
    let rows = store::paced_run::sessions(conn, scope.tenant_id, record.id).await?;
    let ids: Vec<SessionId> = rows.iter().map(|row| row.session_id).collect();
    let visible = visible_on(conn, scope, &ids).await?;
    let mut counts = PacedCounts::default();
    for row in &rows {
        counts.add(row.outcome, row.status, 1);
    }
    let sessions = rows.into_iter().map(|row| PacedSession {
        id: row.session_id,
        title: visible.get(&row.session_id).map(|session| session.title.clone()),
        outcome: row.outcome,
        new_session_id: row.new_session_id,
        status: row.status,
        reason: row.reason,
    });
    Ok(PacedRunDetail { sessions: sessions.collect(), run: PacedRun { record, counts } })
}

/// Returns one page of the caller's paced runs, newest first; of everyone's for operators and admins.
///
/// # Errors
/// [`crate::Error::Invalid`] for a limit above 1,000; [`crate::Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<PacedRun>> {
    require(scope, Permission::Read)?;
    let (before, limit) = page.before_id(List::PacedRuns)?;
    let tenant_id = scope.tenant_id;
    let own = (!scope.may(Permission::ManageSessions)).then(|| scope.caller.to_string());
    let read = ledger.snapshot(scope, async move |conn| {
        let before = before.map(PacedRunId);
        let page = store::paced_run::list(conn, tenant_id, own.as_deref(), before, limit).await?;
        let ids: Vec<PacedRunId> = page.items.iter().map(|run| run.id).collect();
        let mut counts = HashMap::<PacedRunId, PacedCounts>::new();
        for row in store::paced_run::counts(conn, tenant_id, &ids).await? {
            counts.entry(row.run_id).or_default().add(row.outcome, row.status, row.count);
        }
        let run = |record: PacedRunRecord| {
            let counts = counts.get(&record.id).copied().unwrap_or_default();
            PacedRun { record, counts }
        };
        let items = page.items.into_iter().map(run).collect();
        let page = Page { items, has_more: page.has_more };
        Ok(Listed::of(page, |last: &PacedRun| encode(List::PacedRuns, last.record.id.0)))
    });
    read.await
}
