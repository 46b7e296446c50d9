//! Giving a rating and undoing it.

use super::{
    background::{Applied, Caller, Change, apply},
    opaque_id, rater,
    rating::{Rating, to_record},
};
use crate::{Error, FeedbackRecord, Ledger, Result, guard::require, session, visibility::is_own};
use domain::{
    Scope,
    id::SessionId,
    role::Permission,
    session::{Refusal, Session},
    session_feedback::{Label, Surface},
};

/// A rating that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRating {
    /// The rating as it is stored, or is going to be.
    pub rating: FeedbackRecord,
    /// Whether it is still to be written, because its database is locked. This process tries for some minutes.
    pub is_late: bool,
}

/// What became of a request to undo a rating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undone {
    /// The rating was removed.
    Removed,
    /// There was none.
    Nothing,
    /// It is still to be removed, because its database is locked. This process tries for some minutes.
    Late,
}

/// Rates an ended session. Each person has one rating per session: another label replaces the first one, and the
/// same label changes nothing.
///
/// The caller is a person or a token that acts for one. A private session can only be rated by its own person. If the
/// database of ratings is locked, the rating is written in the background after 1 s.
///
/// # Errors
/// [`Error::NoInstanceKey`] without a key; [`Error::NotFound`] if there is no such session or the caller cannot see it;
/// [`Error::Forbidden`] if the caller acts for no person, or if another person's private session is meant;
/// [`Error::Refused`] if the session has not ended; [`Error::Unavailable`] if the database of ratings is damaged or
/// read-only, or if too many ratings wait for it.
pub async fn record(
    ledger: &Ledger,
    scope: &Scope,
    session_id: SessionId,
    label: Label,
    source: Surface,
) -> Result<RecordedRating> {
    let session = rated(ledger, scope, session_id).await?;
    if !session.status().is_final() {
        return Err(Error::Refused(Refusal::WrongStatus { status: session.status() }));
    }
    let turns = session::turns(ledger, scope, &session).await?;
    let rating = Rating { user: rater(scope, &session), label, source, turns };
    let record = to_record(ledger, &session, rating)?;
    let key = (record.session_id_opaque.clone(), record.user_id_or_null);
    let applied = apply(ledger, &session, key, Change::Give(record.clone()), Caller::Waits).await?;
    Ok(match applied {
        Applied::Stored(rating) => RecordedRating { rating, is_late: false },
        Applied::Late => RecordedRating { rating: record, is_late: true },
        Applied::Removed(_) | Applied::Replaced => RecordedRating { rating: record, is_late: false },
    })
}

/// Removes the caller's rating, or stops it if it is still to be written. If the database of ratings is locked, the
/// rating is removed in the background after 1 s.
///
/// # Errors
/// [`Error::NoInstanceKey`] without a key; [`Error::NotFound`] if there is no such session or the caller cannot see it;
/// [`Error::Forbidden`] if the caller acts for no person, or if another person's private session is meant;
/// [`Error::Unavailable`] as for [`record`].
pub async fn undo(ledger: &Ledger, scope: &Scope, session_id: SessionId) -> Result<Undone> {
    let session = rated(ledger, scope, session_id).await?;
    let key = (opaque_id(ledger, session_id)?, rater(scope, &session));
    let is_pending = matches!(ledger.ratings().late_writes.pending(&key), Some(Some(_)));
    Ok(match apply(ledger, &session, key, Change::TakeBack, Caller::Waits).await? {
        Applied::Removed(true) => Undone::Removed,
        Applied::Late => Undone::Late,
        // A rating that was still to be written is not written any more.
        _ if is_pending => Undone::Removed,
        _ => Undone::Nothing,
    })
}

/// Returns a session that the caller may rate.
///
/// # Errors
/// [`Error::NoInstanceKey`] if nothing can be rated on this server.
pub(super) async fn rated(ledger: &Ledger, scope: &Scope, session_id: SessionId) -> Result<Session> {
    require(scope, Permission::Converse)?;
    ledger.instance_key()?;
    let session = session::get(ledger, scope, session_id).await?;
    if scope.acting_user().is_none() {
        return Err(Error::Forbidden(
            "only people can rate sessions: sign in, or use a token of a person (`shiftbook token add --user`)",
        ));
    }
    // The agent of a private session can also see it, but may not rate it.
    if session.is_private() && !is_own(scope, &session) {
        return Err(Error::Forbidden("only the person of a private session can rate it"));
    }
    Ok(session)
}
