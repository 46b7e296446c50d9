//! Running several failed sessions again.

use super::span::When;
use crate::{
    Error, Ledger, Result,
    guard::require,
    session::{BulkResult, distinct, outcome, plan_again_on, ready, run_once},
};
use domain::{
    Scope,
    failure::cause::Window,
    id::{CauseId, SessionId},
    limit::RUN_AGAIN_MAX,
    role::Permission,
};

/// The sessions that are to be run again.
#[derive(Debug, Clone)]
pub enum WhichSessions {
    /// These: 1 to [`RUN_AGAIN_MAX`].
    Chosen(Vec<SessionId>),
    /// Those that failed in a time range and were not run again, oldest first.
    Failed {
        /// The time range.
        when: When,
        /// Number of sessions: 1 to [`RUN_AGAIN_MAX`]; `None` for as many as possible.
        limit: Option<u32>,
    },
}

/// A request to run sessions of a cause again.
#[derive(Debug, Clone)]
pub struct RunAgain {
    /// Which sessions.
    pub which: WhichSessions,
    /// Only says what would happen.
    pub preview: bool,
}

/// Runs failed sessions of a cause again. Each becomes a new session, as with [`crate::session::retry()`]. A session
/// that was run again before is left alone, so a request can be repeated.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such cause; [`Error::Forbidden`] if the caller may not start sessions;
/// [`Error::Invalid`] for no or too many sessions, sessions of another cause, and a wrong time range.
pub async fn run_again(ledger: &Ledger, scope: &Scope, id: CauseId, request: RunAgain) -> Result<BulkResult> {
    require(scope, Permission::StartSession)?;
    let RunAgain { which, preview } = request;
    check_request(&which)?;
    let mut planned = plan(ledger, scope, id, which).await?;
    if preview {
        return Ok(planned);
    }
    for session in ready(&mut planned.sessions) {
        session.outcome = outcome(run_once(ledger, scope, session.id).await.map(Some))?;
    }
    Ok(planned)
}

fn check_request(which: &WhichSessions) -> Result<()> {
    match which {
        WhichSessions::Chosen(ids) if ids.is_empty() || ids.len() > RUN_AGAIN_MAX => {
            Err(Error::invalid("sessionIds", format!("1 to {RUN_AGAIN_MAX}")))
        }
        WhichSessions::Failed { limit: Some(limit), .. } if *limit == 0 || *limit as usize > RUN_AGAIN_MAX => {
            Err(Error::invalid("limit", format!("1 to {RUN_AGAIN_MAX}")))
        }
        WhichSessions::Failed { when, .. } => when.check(),
        WhichSessions::Chosen(_) => Ok(()),
    }
}

/// Decides about each session.
async fn plan(ledger: &Ledger, scope: &Scope, id: CauseId, which: WhichSessions) -> Result<BulkResult> {
    let (reader, now) = (*scope, ledger.now());
    let planned = ledger.snapshot(scope, async move |conn| {
        let tenant_id = reader.tenant_id;
        let when = match &which {
            WhichSessions::Failed { when, .. } => when.clone(),
            WhichSessions::Chosen(_) => When::window(Window::Day),
        };
        let span = when.span(conn, &reader, now).await?;
        store::failure::cause::find(conn, tenant_id, id, span).await?.ok_or(Error::NotFound("cause"))?;
        let max = u32::try_from(RUN_AGAIN_MAX).unwrap_or(u32::MAX);
        let (ids, has_more) = match which {
            WhichSessions::Chosen(ids) => (distinct(ids), false),
            WhichSessions::Failed { limit, .. } => {
                let limit = limit.unwrap_or(max);
                let mut ids = store::failure::cause::to_run_again(conn, tenant_id, id, span, limit + 1).await?;
                let has_more = ids.len() > limit as usize;
                ids.truncate(limit as usize);
                (ids, has_more)
            }
        };
        let of_cause = store::failure::cause::members(conn, tenant_id, id, &ids).await?;
        if let Some(other) = ids.iter().find(|id| !of_cause.contains(id)) {
            return Err(Error::invalid("sessionIds", format!("{other} is not a failure of this cause")));
        }
        Ok(BulkResult { sessions: plan_again_on(conn, &reader, ids).await?, has_more })
    });
    planned.await
}
