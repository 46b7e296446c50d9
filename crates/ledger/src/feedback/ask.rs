//! Reading ratings: the caller's own rating, and counts.

use super::{RatingsMissing, backend, opaque_id, rater, record::rated, unavailable};
use crate::{FeedbackRecord, Ledger, Result, guard::require, session, visibility::is_own};
use domain::{
    Scope, canvas, human,
    id::SessionId,
    insight::Ratings,
    memory_writer, response,
    role::Permission,
    session::{Session, Status as SessionStatus},
    session_feedback::{Label, earliest_end},
    thread::is_incognito,
};
use std::collections::HashMap;

/// Sources of sessions in which no agent worked for a person: canvases, work of a person, responses to forms, what
/// tasks make of them, and proposals of the memory writer.
const NOT_RATED: [&str; 5] =
    [canvas::SOURCE, human::SOURCE, response::SOURCE, response::PROMOTION_SOURCE, memory_writer::SOURCE];

/// Returns the caller's own rating of a session.
///
/// # Errors
/// [`crate::Error::NoInstanceKey`] without a key; [`crate::Error::NotFound`] if there is no such session or the caller
/// cannot see it; [`crate::Error::Forbidden`] if the caller acts for no person, or if another person's private
/// session is meant; [`crate::Error::Unavailable`] if ratings cannot be read.
pub async fn of_session(ledger: &Ledger, scope: &Scope, session_id: SessionId) -> Result<Option<FeedbackRecord>> {
    let session = rated(ledger, scope, session_id).await?;
    own(ledger, scope, &session).await
}

/// Reads the caller's rating: one that is still to be written, or the stored one.
async fn own(ledger: &Ledger, scope: &Scope, session: &Session) -> Result<Option<FeedbackRecord>> {
    let key = (opaque_id(ledger, session.id)?, rater(scope, session));
    if let Some(late) = ledger.ratings().late_writes.pending(&key) {
        return Ok(late);
    }
    backend(ledger, session).of(&key.0, key.1).await.map_err(unavailable)
}

/// Whether a page asks the caller to rate a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    /// Do not ask.
    Silent,
    /// Ask whether the session helped.
    Ask,
    /// The caller has rated the session with this label.
    Rated(Label),
}

/// Returns whether to ask a signed-in person to rate a session. People are asked after the session has ended,
/// for some weeks, if it ever started. They are not asked about people's own work, responses to forms, what tasks
/// make of them, and proposals of the memory writer. About a private session only its own person is asked.
///
/// # Errors
/// [`crate::Error::NoInstanceKey`] without a key, if the caller could be asked.
pub async fn prompt(ledger: &Ledger, scope: &Scope, session: &Session) -> Result<Prompt> {
    let may = scope.user_id().is_some() && scope.may(Permission::Converse);
    let is_theirs = !session.is_private() || is_own(scope, session);
    let happened =
        session.started_at.is_some() && !session.source.as_deref().is_some_and(|source| NOT_RATED.contains(&source));
    let Some(ended_at) = session.completed_at().filter(|_| may && is_theirs && happened && session.status().is_final())
    else {
        return Ok(Prompt::Silent);
    };
    Ok(match own(ledger, scope, session).await? {
        Some(given) => Prompt::Rated(given.label),
        None if ended_at < earliest_end(ledger.now()) => Prompt::Silent,
        None => Prompt::Ask,
    })
}

/// Returns how many people have rated a session.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session or the caller cannot see it; [`crate::Error::NoInstanceKey`]
/// without a key; [`crate::Error::Unavailable`] if ratings cannot be read.
pub async fn count(ledger: &Ledger, scope: &Scope, session_id: SessionId) -> Result<u64> {
    let session = session::get(ledger, scope, session_id).await?;
    let (backend, name) = (backend(ledger, &session), opaque_id(ledger, session_id)?);
    backend.count_of_session(&name).await.map_err(unavailable)
}

/// Returns the ratings of these sessions. Sessions without a rating and private sessions are left out. The
/// caller limits the number of sessions.
///
/// # Errors
/// Why the ratings could not be read, which is logged.
pub(crate) async fn of_sessions(
    ledger: &Ledger,
    sessions: &[SessionId],
) -> std::result::Result<HashMap<SessionId, Ratings>, RatingsMissing> {
    // Without an instance key no rating can have been recorded.
    let Ok(names) = sessions.iter().map(|id| Ok((opaque_id(ledger, *id)?, *id))).collect::<Result<HashMap<_, _>>>()
    else {
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

/// What is stored about a conversation and about the caller's ratings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The session, if the request named one.
    pub session: Option<SessionState>,
    /// Number of ratings of that session. Without a session: number of sessions that the caller has rated. `None` if
    /// ratings cannot be read.
    pub session_feedback_count: Option<u64>,
    /// Number of sessions that the caller has rated; `None` if the caller is not a person, or if ratings cannot be
    /// read.
    pub own_feedback_count: Option<u64>,
    /// Why ratings could not be read; `None` if they were.
    pub ratings_missing: Option<RatingsMissing>,
    /// Where ratings are stored: `sqlite`, `postgres` or `memory`.
    pub feedback_backend: &'static str,
}

/// What is stored about one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionState {
    /// Id of the session.
    pub id: SessionId,
    /// Status of the session.
    pub status: SessionStatus,
    /// Whether the session is incognito. Ratings of incognito sessions stay in memory.
    pub incognito: bool,
    /// Number of turns so far.
    pub turn_count: u64,
    /// Number of events in the log.
    pub event_count: u64,
}

/// Returns what is stored about a session or, without one, about the caller's ratings. If ratings cannot be read, the
/// rest is returned.
///
/// # Errors
/// [`crate::Error::NoInstanceKey`] without a key; [`crate::Error::NotFound`] if there is no such session or the caller
/// cannot see it.
pub async fn status(ledger: &Ledger, scope: &Scope, session_id: Option<SessionId>) -> Result<Status> {
    require(scope, Permission::Read)?;
    ledger.instance_key()?;
    if let Some(id) = session_id {
        let session = session::get(ledger, scope, id).await?;
        let turns = session::turns(ledger, scope, &session).await?;
        return status_of(ledger, scope, &session, turns).await;
    }
    let (own, ratings_missing) = split(own_count(ledger, scope).await);
    Ok(Status {
        session: None,
        session_feedback_count: own.map(Option::unwrap_or_default),
        own_feedback_count: own.flatten(),
        ratings_missing,
        feedback_backend: ledger.store().feedback().name(),
    })
}

/// Does the same as [`status`] for a session that was read before, with its number of turns. Only ratings are
/// read.
///
/// # Errors
/// [`crate::Error::NoInstanceKey`] without a key.
pub async fn status_of(ledger: &Ledger, scope: &Scope, session: &Session, turns: u64) -> Result<Status> {
    require(scope, Permission::Read)?;
    let (backend, name) = (backend(ledger, session), opaque_id(ledger, session.id)?);
    let (of_session, of_session_missing) = split(backend.count_of_session(&name).await);
    let (own, own_missing) = split(own_count(ledger, scope).await);
    Ok(Status {
        session_feedback_count: of_session,
        own_feedback_count: own.flatten(),
        ratings_missing: of_session_missing.or(own_missing),
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

/// Returns the number of sessions that the caller has rated.
async fn own_count(ledger: &Ledger, scope: &Scope) -> store::Result<Option<u64>> {
    match scope.acting_user() {
        Some(user) => ledger.store().feedback().count_of_user(user).await.map(Some),
        None => Ok(None),
    }
}

/// Splits what was read from the reason why it could not be.
fn split<T>(read: store::Result<T>) -> (Option<T>, Option<RatingsMissing>) {
    match read {
        Ok(value) => (Some(value), None),
        Err(error) => (None, Some(error.into())),
    }
}
