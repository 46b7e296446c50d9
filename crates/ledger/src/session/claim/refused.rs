//! Sessions that a claim passes over, because their own data or the database refuse it: those behind them in the queue
//! are claimed all the same.

use crate::{Error, Result};
use domain::id::SessionId;

/// Most sessions that one claim passes over.
const REFUSED_MAX: usize = 8;

/// Why a claim wrote nothing.
pub(super) struct Failed {
    /// The session that could not be claimed; `None` if it is not about one.
    pub(super) session: Option<SessionId>,
    /// The reason.
    pub(super) error: Error,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { session: None, error }
    }
}

impl From<store::Error> for Failed {
    fn from(error: store::Error) -> Self {
        Error::from(error).into()
    }
}

/// Whether the error can be about one session. A database that cannot be reached refuses every claim.
const fn is_of_one(error: &Error) -> bool {
    !matches!(error, Error::Unavailable(_) | Error::Unusable(_))
}

/// The sessions that a claim has passed over.
#[derive(Default)]
pub(super) struct Refused {
    /// Their ids, in the order of the queue.
    pub(super) sessions: Vec<SessionId>,
    first: Option<Error>,
}

impl Refused {
    /// Passes over the session for which a claim failed, and logs why.
    ///
    /// # Errors
    /// The first error, if [`REFUSED_MAX`] sessions were passed over; this one, if it is not about a session.
    pub(super) fn add(&mut self, Failed { session, error }: Failed) -> Result<()> {
        let Some(session) = session.filter(|_| is_of_one(&error)) else { return Err(error) };
        tracing::error!(%session, %error, "a session cannot be claimed, and the claim goes on with the next one");
        self.first.get_or_insert(error);
        self.sessions.push(session);
        match self.first.take_if(|_| self.sessions.len() >= REFUSED_MAX) {
            Some(first) => Err(first),
            None => Ok(()),
        }
    }

    /// The result of a claim that came to its end.
    ///
    /// # Errors
    /// The first error, if there is nothing else to claim.
    pub(super) fn end<T>(self, claimed: Vec<T>) -> Result<Vec<T>> {
        match self.first {
            Some(first) if claimed.is_empty() => Err(first),
            _ => Ok(claimed),
        }
    }
}
