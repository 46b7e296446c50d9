//! The state of a session: its status with the data that only this status has.

use super::{
    graph::WaitsFor,
    status::{EndReason, Status},
};
use crate::Timestamp;

/// The lease of the worker that holds a running session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Time by which a heartbeat extends the lease, seconds.
    pub seconds: u32,
    /// Time after which the lease counts as lost (UTC).
    pub expires_at: Timestamp,
}

/// How a session ended: one value for each valid pair of final status and end reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// Completed: the work was done.
    Done,
    /// Completed: the person of a working session began another task.
    Superseded,
    /// Failed: the worker or the server reported an error.
    Error,
    /// Failed: the lease was lost or released too often.
    LeaseExhausted,
    /// Failed: a safety rule blocked the output.
    HardBlock,
    /// Failed: reviewers denied the output too often.
    Rejected,
    /// Abandoned: someone cancelled it.
    Cancelled,
    /// Abandoned: a session it depends on did not complete.
    DependencyFailed,
    /// Abandoned: a working session was open for too long. Its end reason is `timed_out`.
    LeftOpen,
    /// Expired: a time limit passed.
    TimedOut,
}

impl End {
    /// Every end, grouped by status.
    pub const ALL: [Self; 10] = [
        Self::Done,
        Self::Superseded,
        Self::Error,
        Self::LeaseExhausted,
        Self::HardBlock,
        Self::Rejected,
        Self::Cancelled,
        Self::DependencyFailed,
        Self::LeftOpen,
        Self::TimedOut,
    ];

    /// Returns the end with this status and reason; `None` if no session can end so.
    pub const fn of(status: Status, reason: EndReason) -> Option<Self> {
        match (status, reason) {
            (Status::Completed, EndReason::Done) => Some(Self::Done),
            (Status::Completed, EndReason::Superseded) => Some(Self::Superseded),
            (Status::Failed, EndReason::Error) => Some(Self::Error),
            (Status::Failed, EndReason::LeaseExhausted) => Some(Self::LeaseExhausted),
            (Status::Failed, EndReason::HardBlock) => Some(Self::HardBlock),
            (Status::Failed, EndReason::Rejected) => Some(Self::Rejected),
            (Status::Abandoned, EndReason::Cancelled) => Some(Self::Cancelled),
            (Status::Abandoned, EndReason::DependencyFailed) => Some(Self::DependencyFailed),
            (Status::Abandoned, EndReason::TimedOut) => Some(Self::LeftOpen),
            (Status::Expired, EndReason::TimedOut) => Some(Self::TimedOut),
            (
                Status::Draft
                | Status::Pending
                | Status::Running
                | Status::WaitingHuman
                | Status::AwaitingTool
                | Status::Idle
                | Status::Completed
                | Status::Failed
                | Status::Abandoned
                | Status::Expired,
                EndReason::Done
                | EndReason::Superseded
                | EndReason::Cancelled
                | EndReason::TimedOut
                | EndReason::LeaseExhausted
                | EndReason::HardBlock
                | EndReason::Rejected
                | EndReason::DependencyFailed
                | EndReason::Error,
            ) => None,
        }
    }

    /// Returns the final status.
    pub const fn status(self) -> Status {
        match self {
            Self::Done | Self::Superseded => Status::Completed,
            Self::Error | Self::LeaseExhausted | Self::HardBlock | Self::Rejected => Status::Failed,
            Self::Cancelled | Self::DependencyFailed | Self::LeftOpen => Status::Abandoned,
            Self::TimedOut => Status::Expired,
        }
    }

    /// Returns the end reason.
    pub const fn reason(self) -> EndReason {
        match self {
            Self::Done => EndReason::Done,
            Self::Superseded => EndReason::Superseded,
            Self::Error => EndReason::Error,
            Self::LeaseExhausted => EndReason::LeaseExhausted,
            Self::HardBlock => EndReason::HardBlock,
            Self::Rejected => EndReason::Rejected,
            Self::Cancelled => EndReason::Cancelled,
            Self::DependencyFailed => EndReason::DependencyFailed,
            Self::LeftOpen | Self::TimedOut => EndReason::TimedOut,
        }
    }
}

/// The data of a session that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Way in which the session ended, which determines status and end reason.
    pub end: End,
    /// Time at which the session became final (UTC).
    pub at: Timestamp,
    /// Result: a JSON text, as the worker sent it.
    pub result: Option<String>,
    /// Whether the result was left out when the session was read: lists do not read large ones.
    pub result_left_out: bool,
    /// Error message for people.
    pub error_message: Option<String>,
    /// Error code for programs.
    pub error_code: Option<String>,
}

/// The state of a session, with the data that only this state has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Created and not started.
    Draft {
        /// Whether it starts by itself when the sessions that it depends on have ended.
        waits_for_dependencies: bool,
    },
    /// Waiting for a worker to claim it.
    Pending {
        /// Time at which the limit of this status passes (UTC); `None` without a limit.
        deadline_at: Option<Timestamp>,
    },
    /// A worker holds the lease, or a person or an external agent is working.
    Running {
        /// Lease of the worker. `None` if no worker has claimed the session: a person works on it, or an agent
        /// that reports by itself.
        lease: Option<Lease>,
        /// Time at which the limit of this status passes (UTC); `None` without a limit.
        deadline_at: Option<Timestamp>,
    },
    /// Waiting for a person's answer or decision.
    WaitingHuman {
        /// Time at which the limit of this status passes (UTC); `None` without a limit.
        deadline_at: Option<Timestamp>,
    },
    /// Waiting for a tool's result or its approval.
    AwaitingTool {
        /// Time at which the limit of this status passes (UTC); `None` without a limit.
        deadline_at: Option<Timestamp>,
    },
    /// Waiting for the next turn or for child sessions.
    Idle {
        /// Whether it resumes by itself when the sessions that it started have ended.
        waits_for_children: bool,
        /// Time at which the limit of this status passes (UTC); `None` without a limit.
        deadline_at: Option<Timestamp>,
    },
    /// The session has ended, and no command changes it.
    Ended(Ended),
}

impl State {
    /// The status that corresponds to the state.
    pub const fn status(&self) -> Status {
        match self {
            Self::Draft { .. } => Status::Draft,
            Self::Pending { .. } => Status::Pending,
            Self::Running { .. } => Status::Running,
            Self::WaitingHuman { .. } => Status::WaitingHuman,
            Self::AwaitingTool { .. } => Status::AwaitingTool,
            Self::Idle { .. } => Status::Idle,
            Self::Ended(ended) => ended.end.status(),
        }
    }

    /// Time at which the limit of the status passes (UTC); `None` without a limit, for a draft and for an ended
    /// session.
    pub const fn deadline_at(&self) -> Option<Timestamp> {
        match self {
            Self::Pending { deadline_at }
            | Self::Running { deadline_at, .. }
            | Self::WaitingHuman { deadline_at }
            | Self::AwaitingTool { deadline_at }
            | Self::Idle { deadline_at, .. } => *deadline_at,
            Self::Draft { .. } | Self::Ended(_) => None,
        }
    }

    /// Sessions that a draft or an idle session waits for; `None` if it waits for none.
    pub const fn waits_for(&self) -> Option<WaitsFor> {
        match self {
            Self::Draft { waits_for_dependencies: true } => Some(WaitsFor::Dependencies),
            Self::Idle { waits_for_children: true, .. } => Some(WaitsFor::Children),
            Self::Draft { waits_for_dependencies: false }
            | Self::Idle { waits_for_children: false, .. }
            | Self::Pending { .. }
            | Self::Running { .. }
            | Self::WaitingHuman { .. }
            | Self::AwaitingTool { .. }
            | Self::Ended(_) => None,
        }
    }

    /// Lease of the worker that holds a running session.
    pub const fn lease(&self) -> Option<Lease> {
        match self {
            Self::Running { lease, .. } => *lease,
            Self::Draft { .. }
            | Self::Pending { .. }
            | Self::WaitingHuman { .. }
            | Self::AwaitingTool { .. }
            | Self::Idle { .. }
            | Self::Ended(_) => None,
        }
    }

    /// Consumes the state and returns the data of an ended session; `None` if it has not ended.
    pub fn into_ended(self) -> Option<Ended> {
        match self {
            Self::Ended(ended) => Some(ended),
            Self::Draft { .. }
            | Self::Pending { .. }
            | Self::Running { .. }
            | Self::WaitingHuman { .. }
            | Self::AwaitingTool { .. }
            | Self::Idle { .. } => None,
        }
    }

    /// The data of an ended session; `None` if it has not ended.
    pub const fn ended(&self) -> Option<&Ended> {
        match self {
            Self::Ended(ended) => Some(ended),
            Self::Draft { .. }
            | Self::Pending { .. }
            | Self::Running { .. }
            | Self::WaitingHuman { .. }
            | Self::AwaitingTool { .. }
            | Self::Idle { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_is_known_by_its_status_and_reason_and_no_other_pair_is_an_end() {
        for status in Status::ALL {
            for reason in EndReason::ALL {
                let found: Vec<End> =
                    End::ALL.into_iter().filter(|end| (end.status(), end.reason()) == (status, reason)).collect();
                assert_eq!(End::of(status, reason).into_iter().collect::<Vec<_>>(), found, "{status} {reason}");
            }
        }
        assert!(End::ALL.into_iter().all(|end| end.status().is_final()));
    }

    #[test]
    fn only_an_ended_session_has_the_data_of_its_end() {
        let at = Timestamp::UNIX_EPOCH;
        let ended = Ended {
            end: End::Done,
            at,
            result: Some("1".into()),
            result_left_out: false,
            error_message: None,
            error_code: None,
        };
        assert_eq!(State::Ended(ended.clone()).into_ended(), Some(ended));
        assert_eq!(State::Pending { deadline_at: None }.into_ended(), None);
    }
}
