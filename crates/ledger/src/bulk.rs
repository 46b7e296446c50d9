//! One verb for several sessions, named by id or found by a search line.
//!
//! Each session is checked and changed as by the verb for one session, in a transaction of its own: a refusal concerns
//! one session. A repeat changes nothing more. There is no undo here: a session that was cancelled stays cancelled, and
//! a session that was run again can be cancelled as any other. A tag is taken away by its own verb.

use crate::{
    Error, Ledger, Result, failure,
    guard::require,
    retention::is_erased,
    session::{
        self, BulkOutcome, BulkResult, BulkSession, CONTENT_ERASED, ListQuery, ListSessions, Tagging, distinct,
        list_on, may_be_assigned, not_found, outcome, plan_again_on, ready, reason, require_assignable, run_once,
        visible_on,
    },
    visibility::own_or_managed,
};
use domain::{
    Scope, Timestamp,
    id::{SessionId, UserId},
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

/// What is done to each of several sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BulkChange {
    /// A new session like it is created, unless it was run again before.
    RunAgain,
    /// It is cancelled.
    Cancel,
    /// Its failure is acknowledged.
    Acknowledge,
    /// It gets this tag.
    Tag(String),
    /// It loses this tag.
    Untag(String),
    /// It is assigned to this member, or to no one.
    Assign(Option<UserId>),
    /// If it is assigned to this member, or to no one, it is assigned to the one before.
    AssignBack(Option<UserId>),
}

impl BulkChange {
    /// What is done, without the tag or the member.
    pub const fn verb(&self) -> BulkVerb {
        match self {
            Self::RunAgain => BulkVerb::RunAgain,
            Self::Cancel => BulkVerb::Cancel,
            Self::Acknowledge => BulkVerb::Acknowledge,
            Self::Tag(_) => BulkVerb::Tag,
            Self::Untag(_) => BulkVerb::Untag,
            Self::Assign(Some(_)) => BulkVerb::Assign,
            Self::Assign(None) => BulkVerb::Unassign,
            Self::AssignBack(_) => BulkVerb::AssignBack,
        }
    }

    /// The tags that it adds or removes; `None` for another verb.
    fn tagging(&self) -> Option<Tagging> {
        match self {
            Self::Tag(tag) => Some(Tagging { add: vec![tag.clone()], remove: Vec::new() }),
            Self::Untag(tag) => Some(Tagging { add: Vec::new(), remove: vec![tag.clone()] }),
            Self::RunAgain | Self::Cancel | Self::Acknowledge | Self::Assign(_) | Self::AssignBack(_) => None,
        }
    }
}

/// A verb for many sessions at once.
#[derive(Debug, Clone)]
pub struct BulkRequest {
    /// What is done to each session.
    pub change: BulkChange,
    /// The sessions.
    pub selection: BulkSelection,
    /// Only says what would happen.
    pub preview: bool,
}

/// Does the same to several sessions, or says what would happen.
///
/// # Errors
/// [`Error::Invalid`] for no or too many sessions, a wrong list, a wrong tag, and someone who is no active member.
pub async fn run(ledger: &Ledger, scope: &Scope, request: BulkRequest) -> Result<BulkResult> {
    require(scope, Permission::Read)?;
    require(scope, Permission::StartSession)?;
    let BulkRequest { change, selection, preview } = request;
    check(&selection)?;
    check_change(&change)?;
    let (reader, now, planned_change) = (*scope, ledger.now(), change.clone());
    let planned = ledger.snapshot(scope, async move |conn| {
        let (ids, has_more) = match selection {
            BulkSelection::Chosen(ids) => (distinct(ids), false),
            BulkSelection::Listed(wanted) => listed_on(conn, &reader, *wanted, now).await?,
        };
        let sessions = plan_on(conn, &reader, &planned_change, ids).await?;
        Ok(BulkResult { sessions, has_more })
    });
    let mut result = planned.await?;
    if !preview {
        perform(ledger, scope, &change, &mut result.sessions).await?;
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

/// Refuses a wrong tag.
fn check_change(change: &BulkChange) -> Result<()> {
    match change.tagging().map(|tagging| tagging.check()) {
        Some(Err(_)) => Err(Error::invalid("tag", session::bad_tag())),
        Some(Ok(())) | None => Ok(()),
    }
}

async fn plan_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    change: &BulkChange,
    ids: Vec<SessionId>,
) -> Result<Vec<BulkSession>> {
    match change {
        BulkChange::RunAgain => plan_again_on(conn, scope, ids).await,
        BulkChange::Cancel => plan_cancel_on(conn, scope, ids).await,
        BulkChange::Acknowledge => plan_acknowledge_on(conn, scope, ids).await,
        BulkChange::Assign(to) => plan_assign_on(conn, scope, *to, ids).await,
        BulkChange::AssignBack(from) => plan_assign_back_on(conn, scope, *from, ids).await,
        BulkChange::Tag(_) | BulkChange::Untag(_) => {
            let found = visible_on(conn, scope, &ids).await?;
            let tagging = change.tagging().unwrap_or_default();
            Ok(plan(ids, &found, |session| label_outcome(scope, session, tagging.of(session).map(|new| new.is_some()))))
        }
    }
}

async fn plan_assign_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    to: Option<UserId>,
    ids: Vec<SessionId>,
) -> Result<Vec<BulkSession>> {
    require_assignable(conn, scope, to).await?;
    let found = visible_on(conn, scope, &ids).await?;
    let differs = |session: &Session| may_be_assigned(session, to).map(|()| session.assignee != to);
    Ok(plan(ids, &found, |session| label_outcome(scope, session, differs(session))))
}

/// A former member among those before is refused when it is done.
async fn plan_assign_back_on(
    conn: &mut Conn<'_>,
    scope: &Scope,
    from: Option<UserId>,
    ids: Vec<SessionId>,
) -> Result<Vec<BulkSession>> {
    let found = visible_on(conn, scope, &ids).await?;
    Ok(plan(ids, &found, |session| label_outcome(scope, session, Ok(session.assignee == from))))
}

/// What becomes of a session whose tags or assignee would differ, would stay, or cannot change.
fn label_outcome(scope: &Scope, session: &Session, differs: Result<bool>) -> BulkOutcome {
    match (own_or_managed(scope, session), differs) {
        (Err(error), _) | (Ok(()), Err(error)) => BulkOutcome::Refused(reason(&error)),
        (Ok(()), Ok(_)) if is_erased(session) => BulkOutcome::Refused(CONTENT_ERASED.to_owned()),
        (Ok(()), Ok(true)) => BulkOutcome::Ready,
        (Ok(()), Ok(false)) => BulkOutcome::Already(None),
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
async fn perform(ledger: &Ledger, scope: &Scope, change: &BulkChange, planned: &mut [BulkSession]) -> Result<()> {
    for session in ready(planned) {
        let done = match change {
            BulkChange::RunAgain => run_once(ledger, scope, session.id).await.map(Some),
            BulkChange::Cancel => session::cancel(ledger, scope, session.id, None).await.map(|_| None),
            BulkChange::Acknowledge => failure::acknowledge(ledger, scope, session.id).await.map(|_| None),
            BulkChange::Assign(to) => session::assign(ledger, scope, session.id, *to).await.map(|_| None),
            BulkChange::AssignBack(from) => session::assign_back(ledger, scope, session.id, *from).await.map(|_| None),
            BulkChange::Tag(_) | BulkChange::Untag(_) => {
                let tagging = change.tagging().unwrap_or_default();
                session::tag(ledger, scope, session.id, tagging).await.map(|_| None)
            }
        };
        session.outcome = match done {
            // It ended with the session that started it, or another request has cancelled it meanwhile.
            Err(Error::Refused(Refusal::AlreadyFinal { status: Status::Abandoned })) => BulkOutcome::Already(None),
            done => outcome(done)?,
        };
    }
    Ok(())
}
