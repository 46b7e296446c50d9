//! Running several sessions again, and what becomes of each of several sessions.

use super::{get::list_by_ids_on, retry::retry_with_key};
use crate::{Error, Ledger, Result, visibility::own_or_managed};
use domain::{
    Scope,
    action::ActionStatus,
    id::{ActionId, SessionId},
    run_again::run_again as check,
    session::Session,
};
use std::collections::{BTreeSet, HashMap};
use store::Conn;

/// What happens, or would happen, to one of several sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BulkOutcome {
    /// It would be done.
    Ready,
    /// It was done. If the session runs again, the new session.
    Done(Option<SessionId>),
    /// It had been done before. If the session was run again, the newest session that runs it again.
    Already(Option<SessionId>),
    /// It cannot be done, for this reason.
    Refused(String),
}

/// What becomes of one of several sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkSession {
    /// The session.
    pub id: SessionId,
    /// Its title; `None` if the caller cannot see it.
    pub title: Option<String>,
    /// What happens to it.
    pub outcome: BulkOutcome,
}

/// What happened to several sessions, or would happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkResult {
    /// The sessions in the order of the request or of the list.
    pub sessions: Vec<BulkSession>,
    /// Whether the time range or the search has more sessions.
    pub has_more: bool,
}

impl BulkResult {
    /// Number of sessions with such an outcome.
    pub fn count(&self, of: impl Fn(&BulkOutcome) -> bool) -> usize {
        self.sessions.iter().filter(|session| of(&session.outcome)).count()
    }
}

/// The ids in their order, each once.
pub(crate) fn distinct(ids: Vec<SessionId>) -> Vec<SessionId> {
    let mut seen = BTreeSet::new();
    ids.into_iter().filter(|id| seen.insert(*id)).collect()
}

/// Those of these sessions that the caller can see, by id.
pub(crate) async fn visible_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    ids: &[SessionId],
) -> Result<HashMap<SessionId, Session>> {
    let found = list_by_ids_on(conn, scope, ids).await?;
    Ok(found.into_iter().map(|session| (session.id, session)).collect())
}

/// The refusal of a session that does not exist, or that the caller cannot see.
pub(crate) fn not_found() -> BulkOutcome {
    BulkOutcome::Refused(reason(&Error::NotFound("session")))
}

/// Decides which of these sessions would be run again.
pub(crate) async fn plan_again_on(conn: &mut Conn<'_>, scope: &Scope, ids: Vec<SessionId>) -> Result<Vec<BulkSession>> {
    let found = visible_on(conn, scope, &ids).await?;
    let actions: Vec<ActionId> = found.values().filter_map(|session| session.action_id).collect();
    let actions = match actions.as_slice() {
        [] => HashMap::new(),
        actions => store::action::briefs(conn, scope.tenant_id, actions).await?,
    };
    let retries = store::failure::cause::retries(conn, scope.tenant_id, &ids).await?;
    let sessions = ids.into_iter().map(|id| {
        let session = found.get(&id);
        let outcome = match (session, retries.get(&id)) {
            (None, _) => not_found(),
            (Some(_), Some(retry)) => BulkOutcome::Already(Some(*retry)),
            (Some(session), None) => {
                let action = session.action_id.and_then(|id| actions.get(&id)).map(|(_, status)| *status);
                match (own_or_managed(scope, session), check_again(session, action)) {
                    (Err(error), _) => BulkOutcome::Refused(reason(&error)),
                    (Ok(()), Err(why)) => BulkOutcome::Refused(why.to_owned()),
                    (Ok(()), Ok(())) => BulkOutcome::Ready,
                }
            }
        };
        BulkSession { id, title: session.map(|session| session.title.clone()), outcome }
    });
    Ok(sessions.collect())
}

fn check_again(session: &Session, action: Option<ActionStatus>) -> std::result::Result<(), &'static str> {
    check(session.session_type, session.source.as_deref(), session.status(), action).map_err(|why| why.reason())
}

/// The sessions to which something is to be done, oldest first: new sessions are queued in the order of the old ones,
/// and a session is cancelled before those that it started.
pub(crate) fn ready(planned: &mut [BulkSession]) -> Vec<&mut BulkSession> {
    let mut ready: Vec<_> = planned.iter_mut().filter(|session| session.outcome == BulkOutcome::Ready).collect();
    ready.sort_by_key(|session| session.id);
    ready
}

/// Runs one session again. Two requests at the same time start one new session, because they use the same key.
pub(crate) async fn run_once(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<SessionId> {
    let again = retry_with_key(ledger, scope, id, Some(format!("run-again:{id}"))).await?;
    Ok(again.id)
}

/// The outcome of one session. A refusal concerns this session alone.
///
/// # Errors
/// Errors of the server: the request ends, and can be repeated.
pub(crate) fn outcome(done: Result<Option<SessionId>>) -> Result<BulkOutcome> {
    match done {
        Ok(new) => Ok(BulkOutcome::Done(new)),
        Err(error @ (Error::Unavailable(_) | Error::Unusable(_) | Error::Internal(_))) => Err(error),
        Err(refusal) => Ok(BulkOutcome::Refused(reason(&refusal))),
    }
}

/// The text of a refusal. That of fields is the text of the first one.
pub(crate) fn reason(error: &Error) -> String {
    match error {
        Error::Invalid(issues) => issues.first().map_or_else(|| error.to_string(), |issue| issue.message.clone()),
        error => error.to_string(),
    }
}
