//! Ratings: one label that a person gives to an ended session, without any text.
//!
//! Ratings are stored apart from the log. A session is identified by a name derived with the instance key, so
//! the ratings file alone does not reveal which sessions were rated. Ratings of private sessions are kept in
//! memory and without a user.

mod ask;
mod background;
mod late;
mod operate;
mod rating;
mod record;

pub use ask::{Prompt, Status, count, of_session, prompt, status, status_of};
pub use operate::{count_by_operator, list_by_operator, purge_by_operator};
pub use record::{RecordedRating, Undone, record, undo};

pub(crate) use ask::of_sessions;
pub(crate) use background::{finish, store_ending};
pub(crate) use rating::Rating;

use crate::{Error, Ledger, Result};
use domain::{
    Scope,
    id::{SessionId, UserId},
    session::Session,
};
use late::LateWrites;
use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use store::FeedbackBackend;
use tokio::sync::Semaphore;

/// Largest number of ratings that are written in the background at once. Further late ratings count as failures.
const LATE_RATINGS_MAX: usize = 1_000;
/// The purpose for which the secret of ratings is derived from the instance key.
const PURPOSE: &str = "session-feedback";

/// State of ratings outside the store.
pub(crate) struct Ratings {
    /// Ratings of private sessions. They are lost when the process ends.
    incognito: FeedbackBackend,
    failures: AtomicU64,
    /// One permit for each rating that is written in the background.
    late: Arc<Semaphore>,
    late_writes: LateWrites,
}

impl Default for Ratings {
    fn default() -> Self {
        Self {
            incognito: FeedbackBackend::memory(),
            failures: AtomicU64::new(0),
            late: Arc::new(Semaphore::new(LATE_RATINGS_MAX)),
            late_writes: LateWrites::default(),
        }
    }
}

/// Returns the number of ratings that could not be stored since the process started.
pub fn failures(ledger: &Ledger) -> u64 {
    ledger.ratings().failures.load(Ordering::Relaxed)
}

/// Returns the name of a session in the ratings: 64 hexadecimal digits.
///
/// # Errors
/// [`Error::NoInstanceKey`] without a key, because without a secret anyone could compute the names.
pub fn opaque_id(ledger: &Ledger, session_id: SessionId) -> Result<String> {
    let key = ledger.instance_key()?;
    let mut name = String::new();
    for byte in key.derive(PURPOSE, &[session_id.to_string().as_bytes()]) {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    Ok(name)
}

/// Returns where the ratings of this session are stored.
pub(crate) fn backend<'a>(ledger: &'a Ledger, session: &Session) -> &'a FeedbackBackend {
    if session.is_private() {
        return &ledger.ratings().incognito;
    }
    ledger.store().feedback()
}

/// Returns the user stored with a rating; `None` for a private session.
fn rater(scope: &Scope, session: &Session) -> Option<UserId> {
    scope.acting_user().filter(|_| !session.is_private())
}

/// Checks whether ratings can be stored now, without writing one.
///
/// # Errors
/// [`Error::Unavailable`] if the ratings file is read-only, [`Error::Internal`] if it cannot be opened.
pub async fn check(ledger: &Ledger) -> Result<()> {
    Ok(ledger.store().feedback().check().await?)
}

/// Why ratings could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatingsMissing {
    /// The database of ratings is locked or cannot be reached.
    Unavailable,
    /// The database of ratings is damaged or cannot be opened.
    Unreadable,
}

impl From<store::Error> for RatingsMissing {
    fn from(error: store::Error) -> Self {
        tracing::warn!(%error, "ratings cannot be read");
        match error {
            store::Error::Unavailable(_) => Self::Unavailable,
            _ => Self::Unreadable,
        }
    }
}

/// Converts an error of the database of ratings. A damaged one is unavailable until it is repaired, and nothing else
/// fails with it.
fn unavailable(error: store::Error) -> Error {
    match error {
        store::Error::Database(why) | store::Error::Inconsistent(why) | store::Error::Unusable(why) => {
            Error::Unavailable(format!("the database of ratings cannot be used: {why}"))
        }
        other => other.into(),
    }
}

/// Counts and logs a rating that could not be stored.
fn count_failure(ledger: &Ledger, error: &Error) {
    ledger.ratings().failures.fetch_add(1, Ordering::Relaxed);
    tracing::warn!(%error, "a rating could not be kept; the conversation ends all the same");
}
