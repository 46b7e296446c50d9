//! The ten statuses, the four types, and why a session ended.

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Created, not begun.
    Draft,
    /// Queued for a worker.
    Pending,
    /// A worker holds the lease, or a person is at it.
    Running,
    /// Paused for a person's answer or decision.
    WaitingHuman,
    /// Paused for a tool's result or its approval.
    AwaitingTool,
    /// An external agent rests between turns.
    Idle,
    /// Finished. Final.
    Completed,
    /// Ended with an error. Final.
    Failed,
    /// Left or cancelled. Final.
    Abandoned,
    /// Ran out of time. Final.
    Expired,
}

names!(Status {
    Draft = "draft", Pending = "pending", Running = "running", WaitingHuman = "waiting_human",
    AwaitingTool = "awaiting_tool", Idle = "idle", Completed = "completed", Failed = "failed",
    Abandoned = "abandoned", Expired = "expired",
});

impl Status {
    /// No command changes a final session; a retry is a new one.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Abandoned | Self::Expired => true,
            Self::Draft | Self::Pending | Self::Running | Self::WaitingHuman | Self::AwaitingTool | Self::Idle => false,
        }
    }
}

/// What kind of work a session is. Set at creation, never changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// Autonomous agent work, claimed by a worker.
    Agent,
    /// A person's form or survey input.
    Response,
    /// An interactive tool run.
    Tool,
    /// People and agents together; also a person's own working session.
    Mixed,
}

names!(Type { Agent = "agent", Response = "response", Tool = "tool", Mixed = "mixed" });

/// Why a final session ended, finer than its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The work was done.
    Done,
    /// A person began another task; the old session was closed for them.
    Superseded,
    /// Somebody cancelled it.
    Cancelled,
    /// A time limit passed.
    TimedOut,
    /// Too many workers lost it.
    LeaseExhausted,
    /// A safety rule stopped it.
    HardBlock,
    /// Reviewers denied it too often.
    Rejected,
    /// A session it depends on did not complete.
    DependencyFailed,
    /// The worker or server reported an error.
    Error,
}

names!(EndReason {
    Done = "done", Superseded = "superseded", Cancelled = "cancelled", TimedOut = "timed_out",
    LeaseExhausted = "lease_exhausted", HardBlock = "hard_block", Rejected = "rejected",
    DependencyFailed = "dependency_failed", Error = "error",
});
