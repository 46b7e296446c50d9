//! Stores the rating of an ended conversation without delaying the request that ended it.

use super::{LATE_RATINGS_MAX, Rating, backend, count_failure, record::to_record};
use crate::{Error, Ledger};
use domain::session::Session;
use std::{sync::Arc, time::Duration};

/// Longest time that the end of a conversation waits for its rating, and that a stopping server waits for late
/// ratings.
const WAIT: Duration = Duration::from_secs(1);
/// How often a write is attempted while the database is locked or unavailable. On SQLite each attempt waits up
/// to 5 s.
const TRIES: u32 = 12;
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// Stores a rating. After 1 s the caller continues and the write goes on in the background, so a locked file
/// delays no one. A rating that cannot be stored is logged and counted.
pub(crate) async fn store_within_timeout(ledger: &Ledger, session: &Session, rating: Rating) {
    let Ok(permit) = Arc::clone(&ledger.ratings().late).try_acquire_owned() else {
        let error = Error::Unavailable(format!("{LATE_RATINGS_MAX} ratings wait for their database"));
        return count_failure(ledger, &error);
    };
    let (ledger, session) = (ledger.clone(), session.clone());
    let kept = tokio::spawn(async move {
        let _permit = permit;
        if let Err(error) = store_with_retries(&ledger, &session, rating).await {
            count_failure(&ledger, &error);
        }
    });
    // After a timeout the dropped handle detaches the task, which continues.
    let _ = tokio::time::timeout(WAIT, kept).await;
}

async fn store_with_retries(ledger: &Ledger, session: &Session, rating: Rating) -> crate::Result<()> {
    let (record, backend) = (to_record(ledger, session, rating)?, backend(ledger, session));
    let (writes, key) = (&ledger.ratings().late_writes, (record.session_id_opaque.clone(), record.user_id_or_null));
    let write = writes.add(key.clone()).await;
    let mut tries = 0;
    let outcome = loop {
        tries += 1;
        match write.attempt(backend.record(record.clone())).await {
            // Meanwhile the person has taken the rating back, or has given another one.
            None => break Ok(()),
            Some(Err(store::Error::Unavailable(_))) if tries < TRIES => tokio::time::sleep(PAUSE).await,
            Some(other) => break other.map(drop).map_err(Into::into),
        }
    };
    writes.remove(&key, &write);
    outcome
}

/// Waits up to 1 s for ratings that are still being written, and logs how many are lost.
pub(crate) async fn finish(ledger: &Ledger) {
    let late = &ledger.ratings().late;
    let all = u32::try_from(LATE_RATINGS_MAX).unwrap_or(u32::MAX);
    if tokio::time::timeout(WAIT, late.acquire_many(all)).await.is_err() {
        let lost = LATE_RATINGS_MAX.saturating_sub(late.available_permits());
        tracing::warn!(lost, "ratings could not be kept before the server stopped");
    }
}
