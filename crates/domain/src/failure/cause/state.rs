//! The state of a cause: what people decided, and whether it came back since.

use crate::{clock::Timestamp, names::names};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What people decided about a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseState {
    /// No one has decided about it, or it came back.
    Open,
    /// Someone has seen it. Further failures change nothing.
    Acknowledged,
    /// It is set aside until a time, at which it opens again.
    Snoozed,
    /// Someone says that it is fixed. The next failure opens it again.
    Resolved,
}

names!(CauseState { Open = "open", Acknowledged = "acknowledged", Snoozed = "snoozed", Resolved = "resolved" });

/// Why a cause opened with a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Opening {
    /// No earlier failure has the cause.
    New,
    /// It was resolved, and this is the first failure since.
    Back,
}

names!(Opening { New = "new", Back = "back" });

/// A state and how it came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Current {
    /// The state now.
    pub state: CauseState,
    /// Time at which the cause opened again by itself: the end of the snooze, or the first failure after it was
    /// resolved (UTC). `None` if it did not.
    pub reopened_at: Option<Timestamp>,
}

/// Returns the state now. `decided` is the state that was recorded last; `until` is the end of a snooze, and `back_at`
/// the first failure after the decision.
pub fn current(decided: CauseState, until: Option<Timestamp>, back_at: Option<Timestamp>, now: Timestamp) -> Current {
    let reopened_at = match decided {
        CauseState::Snoozed => until.filter(|until| *until <= now),
        CauseState::Resolved => back_at,
        CauseState::Open | CauseState::Acknowledged => None,
    };
    let state = if reopened_at.is_some() { CauseState::Open } else { decided };
    Current { state, reopened_at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::from_micros;

    #[test]
    fn a_cause_opens_again_when_its_time_is_over_or_it_comes_back() {
        let at = from_micros;
        let of = |decided, until, back| current(decided, until, back, at(100));
        let open = |reopened_at| Current { state: CauseState::Open, reopened_at };
        let closed = |state| Current { state, reopened_at: None };
        assert_eq!(of(CauseState::Open, None, Some(at(9))), open(None));
        assert_eq!(of(CauseState::Acknowledged, None, Some(at(9))), closed(CauseState::Acknowledged));
        assert_eq!(of(CauseState::Snoozed, Some(at(101)), Some(at(9))), closed(CauseState::Snoozed));
        assert_eq!(of(CauseState::Snoozed, Some(at(100)), None), open(Some(at(100))));
        assert_eq!(of(CauseState::Resolved, None, None), closed(CauseState::Resolved));
        assert_eq!(of(CauseState::Resolved, None, Some(at(60))), open(Some(at(60))));
    }
}
