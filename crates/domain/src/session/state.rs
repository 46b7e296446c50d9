//! Where a session stands, with the data that belongs to it.

use super::{
    graph::WaitsFor,
    status::{EndReason, Status},
};
use crate::Timestamp;

/// A worker's hold on a running session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// How long a heartbeat extends it.
    pub seconds: u32,
    /// Instant after which the session counts as lost.
    pub expires_at: Timestamp,
}

/// How a session ended: each final status with each reason that leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// Completed: the work was done.
    Done,
    /// Completed: its person began another task.
    Superseded,
    /// Failed: the worker or server reported an error.
    Error,
    /// Failed: too many workers lost it.
    LeaseExhausted,
    /// Failed: a safety rule stopped it.
    HardBlock,
    /// Failed: reviewers denied its output too often.
    Rejected,
    /// Abandoned: somebody cancelled it.
    Cancelled,
    /// Abandoned: a session it depends on did not complete.
    DependencyFailed,
    /// Abandoned: its person left it open for too long.
    LeftOpen,
    /// Expired: a time limit passed.
    TimedOut,
}

impl End {
    /// All of them.
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

    /// The end that has this status and this reason, where there is one.
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

    /// The final status.
    pub const fn status(self) -> Status {
        match self {
            Self::Done | Self::Superseded => Status::Completed,
            Self::Error | Self::LeaseExhausted | Self::HardBlock | Self::Rejected => Status::Failed,
            Self::Cancelled | Self::DependencyFailed | Self::LeftOpen => Status::Abandoned,
            Self::TimedOut => Status::Expired,
        }
    }

    /// The reason.
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

/// What is known of a session that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// When.
    pub at: Timestamp,
    /// JSON, as the worker sent it.
    pub result: Option<String>,
    /// What went wrong, for people.
    pub error_message: Option<String>,
    /// What went wrong, for machines.
    pub error_code: Option<String>,
}

/// Where a session stands. `deadline_at` is the instant at which its time limit for that passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Created, not begun.
    Draft {
        /// Whether it begins by itself once the sessions that it depends on have ended.
        waits_for_dependencies: bool,
    },
    /// Queued for a worker.
    Pending {
        /// See [`State`].
        deadline_at: Option<Timestamp>,
    },
    /// At work.
    Running {
        /// The worker's; `None` where no worker ever held it: a person is at it, or an agent that reports by itself.
        lease: Option<Lease>,
        /// See [`State`].
        deadline_at: Option<Timestamp>,
    },
    /// Paused for a person's answer or decision.
    WaitingHuman {
        /// See [`State`].
        deadline_at: Option<Timestamp>,
    },
    /// Paused for a tool's result or its approval.
    AwaitingTool {
        /// See [`State`].
        deadline_at: Option<Timestamp>,
    },
    /// Resting between turns.
    Idle {
        /// Whether it goes on by itself once the sessions that it started have ended.
        waits_for_children: bool,
        /// See [`State`].
        deadline_at: Option<Timestamp>,
    },
    /// Final.
    Ended(Ended),
}

impl State {
    /// Its name.
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

    /// When it runs out.
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

    /// What it waits for.
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

    /// The worker's lease.
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

    /// What is known of its end, to take along.
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

    /// What is known of its end.
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
}
