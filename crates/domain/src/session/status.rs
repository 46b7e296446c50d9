//! The statuses, types and end reasons of sessions.

use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Created and not started.
    Draft,
    /// Waiting for a worker to claim it.
    Pending,
    /// A worker holds the lease, or a person or an external agent is working.
    Running,
    /// Waiting for a person's answer or decision.
    WaitingHuman,
    /// Waiting for a tool's result or its approval.
    AwaitingTool,
    /// Waiting for the next turn or for child sessions.
    Idle,
    /// The work was done. Final.
    Completed,
    /// Ended with an error. Final.
    Failed,
    /// Cancelled, left open, or never started. Final.
    Abandoned,
    /// A time limit passed. Final.
    Expired,
}

names!(Status {
    Draft = "draft", Pending = "pending", Running = "running", WaitingHuman = "waiting_human",
    AwaitingTool = "awaiting_tool", Idle = "idle", Completed = "completed", Failed = "failed",
    Abandoned = "abandoned", Expired = "expired",
});

impl Status {
    /// Whether the status is final. No command changes a final session; a retry is a new session.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Abandoned | Self::Expired => true,
            Self::Draft | Self::Pending | Self::Running | Self::WaitingHuman | Self::AwaitingTool | Self::Idle => false,
        }
    }
}

/// The kind of work of a session. It is set at creation and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// Work of an agent, usually claimed by a worker.
    Agent,
    /// A person's form or survey input.
    Response,
    /// One run of an interactive tool.
    Tool,
    /// Work of people and agents together, and a person's own working session.
    Mixed,
}

names!(Type { Agent = "agent", Response = "response", Tool = "tool", Mixed = "mixed" });

/// The reason for which a session ended. It is more detailed than the final status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The work was done.
    Done,
    /// The person began another task, and the server ended this working session.
    Superseded,
    /// Someone cancelled it.
    Cancelled,
    /// A time limit passed, or a working session was open for too long.
    TimedOut,
    /// The lease was lost or released too often.
    LeaseExhausted,
    /// A safety rule blocked the output.
    HardBlock,
    /// Reviewers denied the output too often.
    Rejected,
    /// A session it depends on did not complete.
    DependencyFailed,
    /// The worker or the server reported an error.
    Error,
}

names!(EndReason {
    Done = "done", Superseded = "superseded", Cancelled = "cancelled", TimedOut = "timed_out",
    LeaseExhausted = "lease_exhausted", HardBlock = "hard_block", Rejected = "rejected",
    DependencyFailed = "dependency_failed", Error = "error",
});
