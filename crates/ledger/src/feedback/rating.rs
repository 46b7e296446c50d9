//! A rating as it is given, and its record.

use super::opaque_id;
use crate::{FeedbackRecord, Ledger, Result};
use domain::{
    id::UserId,
    session::Session,
    session_feedback::{Label, SCHEMA_VERSION, Surface},
};
use uuid::Builder;

/// A rating to be stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rating {
    pub(crate) user: Option<UserId>,
    pub(crate) label: Label,
    pub(crate) source: Surface,
    pub(crate) turns: u64,
}

/// Builds the record of a rating that is given now.
///
/// # Errors
/// [`Error::NoInstanceKey`] without a key.
pub(super) fn to_record(ledger: &Ledger, session: &Session, rating: Rating) -> Result<FeedbackRecord> {
    let mut random = [0; 16];
    ledger.entropy().fill(&mut random);
    Ok(FeedbackRecord {
        id: Builder::from_random_bytes(random).into_uuid(),
        session_id_opaque: opaque_id(ledger, session.id)?,
        user_id_or_null: rating.user.filter(|_| !session.is_private()),
        recorded_at: ledger.now(),
        label: rating.label,
        turn_count_at_end: rating.turns,
        source: rating.source,
        schema_version: SCHEMA_VERSION,
    })
}
