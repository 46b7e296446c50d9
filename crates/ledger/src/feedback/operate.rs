//! What operators and schedulers do with ratings, on the server's own machine. Never on the way of a write.

use super::opaque;
use crate::{FeedbackRecord, Ledger, Result};
use domain::{Timestamp, id::SessionId, limit::FEEDBACK_LISTED_MAX};

/// How many ratings are kept. Those of incognito sessions are in their server's memory and not among them.
pub async fn count_by_operator(ledger: &Ledger) -> Result<u64> {
    Ok(ledger.store().feedback().count().await?)
}

/// The ratings of one session, oldest first.
pub async fn list_by_operator(ledger: &Ledger, session_id: SessionId) -> Result<Vec<FeedbackRecord>> {
    let name = opaque(ledger, session_id)?;
    Ok(ledger.store().feedback().list_by_session(&name, FEEDBACK_LISTED_MAX).await?)
}

/// Removes ratings that were recorded before this instant; how many that were.
pub async fn purge_by_operator(ledger: &Ledger, before: Timestamp) -> Result<u64> {
    Ok(ledger.store().feedback().purge_before(before).await?)
}
