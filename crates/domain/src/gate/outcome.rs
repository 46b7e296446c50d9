//! How a gate ended.

use super::{GateState, Verdict};
use crate::names::names;
use std::fmt;

/// How a closed gate ended. Lists of closed gates are filtered by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GateOutcome {
    /// A person approved what was proposed.
    Approved,
    /// A person approved other values.
    Edited,
    /// A person denied it.
    Denied,
    /// A person answered.
    Answered,
    /// A rule of the workspace approved it.
    ByRule,
    /// No one decided in time.
    Expired,
    /// Its session ended before anyone decided.
    Withdrawn,
}

names!(GateOutcome {
    Approved = "approved",
    Edited = "edited",
    Denied = "denied",
    Answered = "answered",
    ByRule = "rule",
    Expired = "expired",
    Withdrawn = "withdrawn",
});

impl GateOutcome {
    /// The state of gates that ended like this.
    pub const fn state(self) -> GateState {
        match self {
            Self::Approved | Self::Edited | Self::Denied | Self::Answered | Self::ByRule => GateState::Settled,
            Self::Expired => GateState::Expired,
            Self::Withdrawn => GateState::Withdrawn,
        }
    }

    /// The verdict of a person; `None` if no person decided.
    pub const fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Approved => Some(Verdict::Approve),
            Self::Edited => Some(Verdict::Edit),
            Self::Denied => Some(Verdict::Deny),
            Self::Answered => Some(Verdict::Respond),
            Self::ByRule | Self::Expired | Self::Withdrawn => None,
        }
    }
}
