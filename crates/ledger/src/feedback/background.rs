//! Keeping the rating of a conversation that has ended, without holding up whoever ended it.

use super::{LATE_RATINGS_MAX, Rating, backend, count_failure, record::to_record};
use crate::{Error, Ledger, SessionRecord};
use std::{sync::Arc, time::Duration};

/// How long the end of a conversation waits for its rating, and a stopping server for ratings that are late.
const WAIT: Duration = Duration::from_secs(1);
/// How often a rating is tried while its database is locked or away. SQLite waits up to five seconds each time.
const TRIES: u32 = 12;
/// Pause between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// Keeps a rating. After a second it goes on in the background, so that a locked file holds nobody up. A rating that
/// is not kept in the end is logged and counted.
pub(crate) async fn store_within_timeout(ledger: &Ledger, session: &SessionRecord, rating: Rating) {
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
    // Dropping the handle lets the task go on.
    let _ = tokio::time::timeout(WAIT, kept).await;
}

async fn store_with_retries(ledger: &Ledger, session: &SessionRecord, rating: Rating) -> crate::Result<()> {
    let (record, backend) = (to_record(ledger, session, rating)?, backend(ledger, session));
    for _ in 1..TRIES {
        match backend.record(record.clone()).await {
            Err(store::Error::Unavailable(_)) => tokio::time::sleep(PAUSE).await,
            other => return Ok(other.map(drop)?),
        }
    }
    Ok(backend.record(record).await.map(drop)?)
}

/// Waits a moment for ratings that are still being kept, and says how many are lost.
pub(crate) async fn finish(ledger: &Ledger) {
    let late = &ledger.ratings().late;
    let all = u32::try_from(LATE_RATINGS_MAX).unwrap_or(u32::MAX);
    if tokio::time::timeout(WAIT, late.acquire_many(all)).await.is_err() {
        let lost = LATE_RATINGS_MAX.saturating_sub(late.available_permits());
        tracing::warn!(lost, "ratings could not be kept before the server stopped");
    }
}
