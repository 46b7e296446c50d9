//! Reading ratings: one's own, and how many there are.

use super::{backend, opaque, rater, record::rated};
use crate::{FeedbackRecord, Ledger, Result, SessionRecord, guard::require, session, visibility::is_own};
use domain::{
    Scope,
    id::SessionId,
    insight::Ratings,
    role::Permission,
    session::Status as SessionStatus,
    session_feedback::{Label, asked_since},
    thread::is_incognito,
    working,
};
use std::collections::HashMap;

/// The caller's own rating of a session.
pub async fn of_session(ledger: &Ledger, scope: &Scope, session_id: SessionId) -> Result<Option<FeedbackRecord>> {
    let session = rated(ledger, scope, session_id).await?;
    let (backend, name) = (backend(ledger, &session), opaque(ledger, session_id)?);
    Ok(backend.of(&name, rater(scope, &session)).await?)
}

/// Whether a person is asked about a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    /// There is nothing to ask, or not them, or not any more.
    Silent,
    /// Whether it helped.
    Ask,
    /// They said so already.
    Given(Label),
}

/// What a signed-in person is asked about a session: once it has ended, if it ever began, for some weeks. Never about
/// one's own recorded work, and about an incognito conversation nobody but whoever held it.
pub async fn prompt(ledger: &Ledger, scope: &Scope, session: &SessionRecord) -> Result<Prompt> {
    let may = scope.user_id().is_some() && scope.may(Permission::Converse);
    let is_theirs = !is_incognito(&session.metadata) || is_own(scope, session);
    let happened = session.started_at.is_some() && session.source.as_deref() != Some(working::SOURCE);
    let Some(ended_at) = session.completed_at().filter(|_| may && is_theirs && happened && session.status().is_final())
    else {
        return Ok(Prompt::Silent);
    };
    let (backend, name) = (backend(ledger, session), opaque(ledger, session.id)?);
    Ok(match backend.of(&name, rater(scope, session)).await? {
        Some(given) => Prompt::Given(given.label),
        None if ended_at < asked_since(ledger.now()) => Prompt::Silent,
        None => Prompt::Ask,
    })
}

/// How many people have rated a session.
pub async fn count(ledger: &Ledger, scope: &Scope, session_id: SessionId) -> Result<u64> {
    let session = session::get(ledger, scope, session_id).await?;
    let (backend, name) = (backend(ledger, &session), opaque(ledger, session_id)?);
    Ok(backend.count_of_session(&name).await?)
}

/// What people said of these sessions, of those that anybody rated and that are not incognito. The caller bounds how many.
pub(crate) async fn of_sessions(ledger: &Ledger, sessions: &[SessionId]) -> Result<HashMap<SessionId, Ratings>> {
    // Without a key nobody can have rated.
    let Ok(names) = sessions.iter().map(|id| Ok((opaque(ledger, *id)?, *id))).collect::<Result<HashMap<_, _>>>() else {
        return Ok(HashMap::new());
    };
    let asked: Vec<_> = names.keys().cloned().collect();
    let mut found: HashMap<SessionId, Ratings> = HashMap::new();
    for (name, label) in ledger.store().feedback().labels(&asked).await? {
        let Some(id) = names.get(&name) else { continue };
        found.entry(*id).or_default().count_in(label);
    }
    Ok(found)
}

/// What is kept of a conversation and of its person's ratings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The session, where one was asked about.
    pub session: Option<SessionState>,
    /// Ratings of that session; without one, the sessions that the caller has rated.
    pub session_feedback_count: u64,
    /// The sessions that the caller has rated; `None` where the caller is no person.
    pub own_feedback_count: Option<u64>,
    /// Where ratings of it go: sqlite, postgres or memory.
    pub feedback_backend: &'static str,
}

/// What is kept of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionState {
    /// The session.
    pub id: SessionId,
    /// Where it stands.
    pub status: SessionStatus,
    /// Whether its rating stays in memory.
    pub incognito: bool,
    /// Turns so far.
    pub turn_count: u64,
    /// Events in its log.
    pub event_count: u64,
}

/// Counts for a person who wants to know what is kept.
pub async fn status(ledger: &Ledger, scope: &Scope, session_id: Option<SessionId>) -> Result<Status> {
    require(scope, Permission::Read)?;
    if let Some(id) = session_id {
        let session = session::get(ledger, scope, id).await?;
        let turns = session::turns(ledger, scope, &session).await?;
        return status_of(ledger, scope, &session, turns).await;
    }
    let own = own_count(ledger, scope).await?;
    Ok(Status {
        session: None,
        session_feedback_count: own.unwrap_or_default(),
        own_feedback_count: own,
        feedback_backend: ledger.store().feedback().name(),
    })
}

/// The same of a session that was read before, with its turns: it asks for ratings alone.
pub async fn status_of(ledger: &Ledger, scope: &Scope, session: &SessionRecord, turns: u64) -> Result<Status> {
    require(scope, Permission::Read)?;
    let backend = backend(ledger, session);
    Ok(Status {
        session_feedback_count: backend.count_of_session(&opaque(ledger, session.id)?).await?,
        own_feedback_count: own_count(ledger, scope).await?,
        feedback_backend: backend.name(),
        session: Some(SessionState {
            id: session.id,
            status: session.status(),
            incognito: is_incognito(&session.metadata),
            turn_count: turns,
            event_count: session.head_sequence,
        }),
    })
}

/// The sessions that the caller has rated.
async fn own_count(ledger: &Ledger, scope: &Scope) -> Result<Option<u64>> {
    match scope.acting_user() {
        Some(user) => Ok(Some(ledger.store().feedback().count_of_user(user).await?)),
        None => Ok(None),
    }
}
