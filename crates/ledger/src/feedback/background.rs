//! Stores the rating of an ended conversation without delaying the request that ended it.

use super::{LATE_RATINGS_MAX, Rating, backend, count_failure, record::to_record};
use crate::{Error, Ledger};
use domain::session::Session;
use std::{sync::Arc, time::Duration};
use tokio::task::JoinHandle;

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
    wait_for(kept).await;
}

/// Waits up to [`WAIT`] for a write. Afterwards the dropped handle detaches its task, which continues.
async fn wait_for(write: JoinHandle<()>) {
    let _ = tokio::time::timeout(WAIT, write).await;
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::{sync::oneshot, time::Instant};

    #[tokio::test(start_paused = true)]
    async fn a_locked_file_holds_an_ending_for_one_second_and_is_written_to_later() {
        let (unlock, unlocked) = oneshot::channel::<()>();
        let (written, is_written) = oneshot::channel();
        let write = tokio::spawn(async move {
            unlocked.await.unwrap();
            written.send(()).unwrap();
        });
        let started = Instant::now();
        wait_for(write).await;
        assert_eq!(started.elapsed().as_secs(), 1);
        unlock.send(()).unwrap();
        is_written.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_written_rating_holds_an_ending_no_longer() {
        let started = Instant::now();
        wait_for(tokio::spawn(async {})).await;
        assert!(started.elapsed() < WAIT);
    }
}
