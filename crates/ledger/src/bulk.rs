//! One verb for several sessions, named by id or found by a search line.
//!
//! Each session is checked and changed as by the verb for one session, in a transaction of its own: a refusal concerns
//! one session. A repeat changes nothing more. There is no undo here: a session that was cancelled stays cancelled, and
//! a session that was run again can be cancelled as any other.

use crate::{
    Error, Ledger, Result, failure,
    guard::require,
    session::{
        self, BulkOutcome, BulkResult, BulkSession, ListQuery, ListSessions, distinct, list_on, not_found, outcome,
        plan_again_on, ready, reason, run_once, visible_on,
    },
    visibility::own_or_managed,
};
use domain::{
    Scope, Timestamp,
    id::SessionId,
    limit::{BULK_PAGES_MAX, BULK_SESSIONS_MAX, PAGE_MAX},
    role::Permission,
    session::{Actor, BulkVerb, Command, EndReason, Refusal, Session, Status, decide},
};
use std::collections::HashMap;
use store::Conn;

/// The sessions of a bulk request.
#[derive(Debug, Clone)]
pub enum BulkSelection {
    /// These: 1 to [`BULK_SESSIONS_MAX`].
    Chosen(Vec<SessionId>),
    /// The newest [`BULK_SESSIONS_MAX`] of a list. At most [`BULK_PAGES_MAX`] pages of a search are read. Limit and
    /// cursor of the list are ignored.
    Listed(Box<ListSessions>),
}

/// A verb for many sessions at once.
#[derive(Debug, Clone)]
pub struct BulkRequest {
    /// What is done to each session.
    pub verb: BulkVerb,
    /// The sessions.
    pub selection: BulkSelection,
    /// Only says what would happen.
    pub preview: bool,
}

/// Does the same to several sessions, or says what would happen.
///
/// # Errors
/// [`Error::Invalid`] for no or too many sessions, and for a wrong list.
pub async fn run(ledger: &Ledger, scope: &Scope, request: BulkRequest) -> Result<BulkResult> {
    require(scope, Permission::Read)?;
    require(scope, Permission::StartSession)?;
    let BulkRequest { verb, selection, preview } = request;
    check(&selection)?;
    let (reader, now) = (*scope, ledger.now());
    let planned = ledger.snapshot(scope, async move |conn| {
        let (ids, has_more) = match selection {
            BulkSelection::Chosen(ids) => (distinct(ids), false),
            BulkSelection::Listed(wanted) => listed_on(conn, &reader, *wanted, now).await?,
        };
        let sessions = match verb {
            BulkVerb::RunAgain => plan_again_on(conn, &reader, ids).await?,
            BulkVerb::Cancel => plan_cancel_on(conn, &reader, ids).await?,
            BulkVerb::Acknowledge => plan_acknowledge_on(conn, &reader, ids).await?,
        };
        Ok(BulkResult { sessions, has_more })
    });
    let mut result = planned.await?;
    if !preview {
        perform(ledger, scope, verb, &mut result.sessions).await?;
    }
    Ok(result)
}

fn check(selection: &BulkSelection) -> Result<()> {
    match selection {
        BulkSelection::Chosen(ids) if ids.is_empty() || ids.len() > BULK_SESSIONS_MAX => {
            Err(Error::invalid("sessionIds", format!("1 to {BULK_SESSIONS_MAX} sessions")))
        }
        BulkSelection::Chosen(_) | BulkSelection::Listed(_) => Ok(()),
    }
}

/// The newest sessions of a list, and whether there are more.
async fn listed_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    wanted: ListSessions,
    now: Timestamp,
) -> Result<(Vec<SessionId>, bool)> {
    let mut wanted = ListSessions { cursor: None, ..wanted };
    let mut ids = Vec::new();
    for _ in 0..BULK_PAGES_MAX {
        wanted.limit = u32::try_from(BULK_SESSIONS_MAX - ids.len()).unwrap_or(PAGE_MAX);
        let listed = list_on(conn, scope, ListQuery::of(scope, wanted.clone(), now)?).await?;
        ids.extend(listed.items.iter().map(|session| session.id));
        wanted.cursor = listed.next_cursor;
        if wanted.cursor.is_none() || ids.len() >= BULK_SESSIONS_MAX {
            break;
        }
    }
    Ok((ids, wanted.cursor.is_some()))
}

/// Decides about each of these sessions, in their order.
fn plan(
    ids: Vec<SessionId>,
    found: &HashMap<SessionId, Session>,
    decide_one: impl Fn(&Session) -> BulkOutcome,
) -> Vec<BulkSession> {
    let session = |id: SessionId| {
        let session = found.get(&id);
        let outcome = session.map_or_else(not_found, &decide_one);
        BulkSession { id, title: session.map(|session| session.title.clone()), outcome }
    };
    ids.into_iter().map(session).collect()
}

async fn plan_cancel_on(conn: &mut Conn<'_>, scope: &Scope, ids: Vec<SessionId>) -> Result<Vec<BulkSession>> {
    let found = visible_on(conn, scope, &ids).await?;
    let decide_one = |session: &Session| {
        if let Err(error) = own_or_managed(scope, session) {
            return BulkOutcome::Refused(reason(&error));
        }
        match decide(session.position(), Actor::Caller, Command::Cancel) {
            Ok(_) => BulkOutcome::Ready,
            Err(_) if session.end_reason() == Some(EndReason::Cancelled) => BulkOutcome::Already(None),
            Err(refusal) => BulkOutcome::Refused(refusal.to_string()),
        }
    };
    Ok(plan(ids, &found, decide_one))
}

async fn plan_acknowledge_on(conn: &mut Conn<'_>, scope: &Scope, ids: Vec<SessionId>) -> Result<Vec<BulkSession>> {
    let found = visible_on(conn, scope, &ids).await?;
    let failures = store::failure::of_sessions(conn, scope.tenant_id, &ids).await?;
    let is_seen: HashMap<SessionId, bool> =
        failures.iter().map(|failure| (failure.session_id, failure.acknowledged_at.is_some())).collect();
    let decide_one = |session: &Session| match (own_or_managed(scope, session), is_seen.get(&session.id)) {
        (Err(error), _) => BulkOutcome::Refused(reason(&error)),
        (Ok(()), None) => BulkOutcome::Refused("it has not failed".to_owned()),
        (Ok(()), Some(true)) => BulkOutcome::Already(None),
        (Ok(()), Some(false)) => BulkOutcome::Ready,
    };
    Ok(plan(ids, &found, decide_one))
}

/// Does it to each session that is ready.
async fn perform(ledger: &Ledger, scope: &Scope, verb: BulkVerb, planned: &mut [BulkSession]) -> Result<()> {
    for session in ready(planned) {
        let done = match verb {
            BulkVerb::RunAgain => run_once(ledger, scope, session.id).await.map(Some),
            BulkVerb::Cancel => session::cancel(ledger, scope, session.id, None).await.map(|_| None),
            BulkVerb::Acknowledge => failure::acknowledge(ledger, scope, session.id).await.map(|_| None),
        };
        session.outcome = match done {
            // It ended with the session that started it, or another request has cancelled it meanwhile.
            Err(Error::Refused(Refusal::AlreadyFinal { status: Status::Abandoned })) => BulkOutcome::Already(None),
            done => outcome(done)?,
        };
    }
    Ok(())
}
