//! Ratings: what people say of sessions that have ended. One label each, and nothing in words.
//!
//! They are kept apart from the log, under a name that only the instance's key makes of a session's id, so that whoever
//! has the file of ratings alone cannot tell what they are about. Those of incognito sessions are in memory and name
//! nobody.

mod ask;
mod background;
mod operate;
mod record;

pub use ask::{Prompt, Status, count, of_session, prompt, status, status_of};
pub use operate::{count_by_operator, list_by_operator, purge_by_operator};
pub use record::{record, undo};

pub(crate) use ask::of_sessions;
pub(crate) use background::{finish, store_within_timeout};
pub(crate) use record::Rating;

use crate::{Error, InstanceKey, Ledger, Result, SessionRecord};
use domain::{Scope, id::SessionId, id::UserId, thread::is_incognito};
use std::{
    fmt::Write as _,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};
use store::FeedbackBackend;
use tokio::sync::Semaphore;

/// Ratings that are kept in the background at once. Beyond, a rating that is late counts as a failure.
const LATE_RATINGS_MAX: usize = 1_000;
/// What the key's secret is for.
const PURPOSE: &str = "session-feedback";

/// What a ledger needs for ratings beside its store.
pub(crate) struct Ratings {
    key: OnceLock<InstanceKey>,
    /// Ratings of incognito sessions: they end with the process.
    incognito: FeedbackBackend,
    failures: AtomicU64,
    /// One permit for each rating that is being kept while nobody waits for it.
    late: Arc<Semaphore>,
}

impl Default for Ratings {
    fn default() -> Self {
        Self {
            key: OnceLock::new(),
            incognito: FeedbackBackend::memory(),
            failures: AtomicU64::new(0),
            late: Arc::new(Semaphore::new(LATE_RATINGS_MAX)),
        }
    }
}

/// Hands the ledger the instance's key. The first one stays.
pub fn use_key(ledger: &Ledger, key: InstanceKey) {
    let _ = ledger.ratings().key.set(key);
}

/// Ratings that were given and could not be kept, since this process started.
pub fn failures(ledger: &Ledger) -> u64 {
    ledger.ratings().failures.load(Ordering::Relaxed)
}

/// What a session is called among the ratings: 64 hexadecimal digits.
///
/// # Errors
/// [`Error::Unavailable`] without an instance key: names that anybody can make protect nobody.
pub fn opaque(ledger: &Ledger, session_id: SessionId) -> Result<String> {
    let missing =
        || Error::Unavailable("ratings need the instance key: set `instance_key_file` in the settings file".into());
    let key = ledger.ratings().key.get().ok_or_else(missing)?;
    let mut name = String::new();
    for byte in key.derive(PURPOSE, &[session_id.to_string().as_bytes()]) {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    Ok(name)
}

/// Where the ratings of this session are kept.
pub(crate) fn backend<'a>(ledger: &'a Ledger, session: &SessionRecord) -> &'a FeedbackBackend {
    if is_incognito(&session.metadata) {
        return &ledger.ratings().incognito;
    }
    ledger.store().feedback()
}

/// Under whose name a rating of this session is kept. An incognito session keeps nobody's.
fn rater(scope: &Scope, session: &SessionRecord) -> Option<UserId> {
    scope.acting_user().filter(|_| !is_incognito(&session.metadata))
}

/// Whether ratings can be kept now, as far as that can be told without keeping one.
///
/// # Errors
/// [`Error::Unavailable`] when the file of ratings is read-only, [`Error::Internal`] when it cannot be opened.
pub async fn check(ledger: &Ledger) -> Result<()> {
    Ok(ledger.store().feedback().check().await?)
}

/// Counts a rating that could not be kept.
fn count_failure(ledger: &Ledger, error: &Error) {
    ledger.ratings().failures.fetch_add(1, Ordering::Relaxed);
    tracing::warn!(%error, "a rating could not be kept; the conversation ends all the same");
}
