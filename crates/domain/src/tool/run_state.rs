//! How far a run is, in three words, for programs that need no more.

use crate::{names::names, session::Status};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It has not ended.
    Active,
    /// It returned a result.
    Completed,
    /// It ended without a result: it was cancelled, failed or expired.
    Cancelled,
}

names!(RunState { Active = "active", Completed = "completed", Cancelled = "cancelled" });

impl RunState {
    /// The state of a run whose session has this status.
    pub const fn of(status: Status) -> Self {
        match status {
            Status::Draft
            | Status::Pending
            | Status::Running
            | Status::WaitingHuman
            | Status::AwaitingTool
            | Status::Idle => Self::Active,
            Status::Completed => Self::Completed,
            Status::Failed | Status::Abandoned | Status::Expired => Self::Cancelled,
        }
    }

    /// The statuses of sessions whose runs are in this state.
    pub fn statuses(self) -> impl Iterator<Item = Status> {
        Status::ALL.into_iter().filter(move |status| Self::of(*status) == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_ended_is_active_and_only_a_result_completes() {
        for status in Status::ALL {
            assert_eq!(RunState::of(status) == RunState::Active, !status.is_final(), "{status}");
        }
        assert_eq!(RunState::Completed.statuses().collect::<Vec<_>>(), [Status::Completed]);
    }
}
