//! What one more answer to a request does.

use super::{Outcome, RequestState};
use crate::{Timestamp, chain::Digest};

/// The state of a request when an answer arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestPosition {
    /// Its state, with the end of its session taken into account.
    pub state: RequestState,
    /// Instant from which answers are late.
    pub expires_at: Option<Timestamp>,
    /// Whether a member's decision on it is recorded and can still be undone.
    pub is_held: bool,
}

/// An answer that is recorded already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedAnswer {
    /// How it ended the request.
    pub outcome: Outcome,
    /// Digest of the answers.
    pub digest: Digest,
}

/// What becomes of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It is recorded and reaches the agent.
    Record,
    /// It is recorded as late and never reaches the agent.
    RecordLate,
    /// The respondent gave the same answer before. Nothing is recorded.
    Repeat,
    /// The respondent gave another answer before.
    Conflict,
    /// A member's decision can still be undone. Nothing is recorded, so that the answer can take effect after an undo.
    Held,
    /// The request was cancelled with its session.
    Closed,
}

/// Returns what becomes of an answer. `own` is what the same respondent gave before. The function is total and
/// pure.
pub fn admit(
    position: RequestPosition,
    own: Option<RecordedAnswer>,
    given: RecordedAnswer,
    now: Timestamp,
) -> Admission {
    if let Some(own) = own {
        return if own == given { Admission::Repeat } else { Admission::Conflict };
    }
    let is_past = position.expires_at.is_some_and(|expires| now >= expires);
    match position.state {
        RequestState::Cancelled => Admission::Closed,
        RequestState::Answered | RequestState::Expired => Admission::RecordLate,
        RequestState::Waiting if position.is_held => Admission::Held,
        RequestState::Waiting if is_past => Admission::RecordLate,
        RequestState::Waiting => Admission::Record,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::from_micros;

    #[test]
    fn every_state_admits_as_listed() {
        let given = RecordedAnswer { outcome: Outcome::Answered, digest: Digest([1; 32]) };
        let other = RecordedAnswer { digest: Digest([2; 32]), ..given };
        let declined = RecordedAnswer { outcome: Outcome::Declined, ..given };
        let deadline = from_micros(10);
        for state in RequestState::ALL {
            for (expires_at, is_held, now) in [
                (None, false, 5),
                (Some(deadline), false, 9),
                (Some(deadline), false, 10),
                (None, true, 5),
                (Some(deadline), true, 10),
            ] {
                let position = RequestPosition { state, expires_at, is_held };
                let fresh = match state {
                    RequestState::Waiting if is_held => Admission::Held,
                    RequestState::Waiting if now < 10 => Admission::Record,
                    RequestState::Waiting | RequestState::Answered | RequestState::Expired => Admission::RecordLate,
                    RequestState::Cancelled => Admission::Closed,
                };
                let now = from_micros(now);
                assert_eq!(admit(position, None, given, now), fresh, "{position:?}");
                // What is recorded stays, whatever became of the request.
                assert_eq!(admit(position, Some(given), given, now), Admission::Repeat);
                assert_eq!(admit(position, Some(other), given, now), Admission::Conflict);
                assert_eq!(admit(position, Some(declined), given, now), Admission::Conflict);
            }
        }
    }

    #[test]
    fn a_request_that_waits_for_an_ended_session_is_cancelled() {
        for state in RequestState::ALL {
            assert_eq!(state.in_session(false), state);
            let ended = if state == RequestState::Waiting { RequestState::Cancelled } else { state };
            assert_eq!(state.in_session(true), ended);
        }
    }
}
