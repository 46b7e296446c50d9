//! Running several failed sessions again.

use super::span::When;
use crate::{Error, Ledger, Result, guard::require, session::retry_with_key, visibility::own_or_managed};
use domain::{
    Scope,
    action::ActionStatus,
    failure::cause::Window,
    id::{ActionId, CauseId, SessionId},
    limit::RUN_AGAIN_MAX,
    role::Permission,
    run_again::run_again as check,
    session::Session,
};
use std::collections::{BTreeSet, HashMap};

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

/// What happens, or would happen, to one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunAgainOutcome {
    /// It would be run again.
    Ready,
    /// It runs again as this session.
    Started(SessionId),
    /// It was run again before, as this session.
    Already(SessionId),
    /// It cannot be run again, for this reason.
    Refused(String),
}

/// What becomes of one failed session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunAgainSession {
    /// The session that failed.
    pub id: SessionId,
    /// Its title; `None` if the caller cannot see it.
    pub title: Option<String>,
    /// What happens to it.
    pub outcome: RunAgainOutcome,
}

/// What happened, or would happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunAgainResult {
    /// The sessions in the order of the request.
    pub sessions: Vec<RunAgainSession>,
    /// Whether more sessions of the time range are left for a further request.
    pub has_more: bool,
}

impl RunAgainResult {
    /// Number of sessions with such an outcome.
    pub fn count(&self, of: impl Fn(&RunAgainOutcome) -> bool) -> usize {
        self.sessions.iter().filter(|session| of(&session.outcome)).count()
    }
}

/// Runs failed sessions of a cause again. Each becomes a new session, as with [`crate::session::retry()`]. A session
/// that was run again before is left alone, so a request can be repeated.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such cause; [`Error::Forbidden`] if the caller may not start sessions;
/// [`Error::Invalid`] for no or too many sessions, sessions of another cause, and a wrong time range.
pub async fn run_again(ledger: &Ledger, scope: &Scope, id: CauseId, request: RunAgain) -> Result<RunAgainResult> {
    require(scope, Permission::StartSession)?;
    let RunAgain { which, preview } = request;
    check_request(&which)?;
    let mut planned = plan(ledger, scope, id, which).await?;
    if preview {
        return Ok(planned);
    }
    for session in planned.sessions.iter_mut().filter(|session| session.outcome == RunAgainOutcome::Ready) {
        // With a key, two requests at the same time start it once.
        let key = format!("run-again:{}", session.id);
        session.outcome = match retry_with_key(ledger, scope, session.id, Some(key)).await {
            Ok(started) => RunAgainOutcome::Started(started.id),
            Err(error @ (Error::Unavailable(_) | Error::Unusable(_) | Error::Internal(_))) => return Err(error),
            Err(refused) => RunAgainOutcome::Refused(reason(&refused)),
        };
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
async fn plan(ledger: &Ledger, scope: &Scope, id: CauseId, which: WhichSessions) -> Result<RunAgainResult> {
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
            WhichSessions::Chosen(ids) => {
                let mut seen = BTreeSet::new();
                let ids: Vec<SessionId> = ids.into_iter().filter(|id| seen.insert(*id)).collect();
                (ids, false)
            }
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
        let found = crate::session::list_by_ids_on(conn, &reader, &ids).await?;
        let actions: Vec<ActionId> = found.iter().filter_map(|session| session.action_id).collect();
        let actions = match actions.as_slice() {
            [] => HashMap::new(),
            actions => store::action::briefs(conn, tenant_id, actions).await?,
        };
        let retries = store::failure::cause::retries(conn, tenant_id, &ids).await?;
        let found: HashMap<SessionId, Session> = found.into_iter().map(|session| (session.id, session)).collect();
        let sessions = ids.into_iter().map(|id| {
            let session = found.get(&id);
            let outcome = match (session, retries.get(&id)) {
                (None, _) => RunAgainOutcome::Refused(reason(&Error::NotFound("session"))),
                (Some(_), Some(retry)) => RunAgainOutcome::Already(*retry),
                (Some(session), None) => {
                    let action = session.action_id.and_then(|id| actions.get(&id)).map(|(_, status)| *status);
                    match (own_or_managed(&reader, session), check_again(session, action)) {
                        (Err(error), _) => RunAgainOutcome::Refused(reason(&error)),
                        (Ok(()), Err(why)) => RunAgainOutcome::Refused(why.to_owned()),
                        (Ok(()), Ok(())) => RunAgainOutcome::Ready,
                    }
                }
            };
            RunAgainSession { id, title: session.map(|session| session.title.clone()), outcome }
        });
        Ok(RunAgainResult { sessions: sessions.collect(), has_more })
    });
    planned.await
}

fn check_again(session: &Session, action: Option<ActionStatus>) -> std::result::Result<(), &'static str> {
    check(session.session_type, session.source.as_deref(), session.status(), action).map_err(|why| why.reason())
}

/// The text of a refusal. That of fields is the text of the first one.
fn reason(error: &Error) -> String {
    match error {
        Error::Invalid(issues) => issues.first().map_or_else(|| error.to_string(), |issue| issue.message.clone()),
        error => error.to_string(),
    }
}
