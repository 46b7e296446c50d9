//! Operations on ratings for the server's operator and the scheduler. They are never part of a request that
//! writes.

use super::opaque_id;
use crate::{FeedbackRecord, Ledger, Result};
use domain::{Timestamp, id::SessionId, limit::FEEDBACK_LISTED_MAX};

/// Returns the number of stored ratings. Ratings of private sessions are in memory and not counted.
pub async fn count_by_operator(ledger: &Ledger) -> Result<u64> {
    Ok(ledger.store().feedback().count().await?)
}

/// Returns the ratings of one session, oldest first, at most [`FEEDBACK_LISTED_MAX`].
///
/// # Errors
/// [`crate::Error::NoInstanceKey`] without a key.
pub async fn list_by_operator(ledger: &Ledger, session_id: SessionId) -> Result<Vec<FeedbackRecord>> {
    let name = opaque_id(ledger, session_id)?;
    Ok(ledger.store().feedback().list_by_session(&name, FEEDBACK_LISTED_MAX).await?)
}

/// Removes ratings that were recorded before this time. Returns how many were removed.
pub async fn purge_by_operator(ledger: &Ledger, before: Timestamp) -> Result<u64> {
    Ok(ledger.store().feedback().purge_before(before).await?)
}
