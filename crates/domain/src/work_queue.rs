//! The five buckets of the work queue.

use crate::session::{Status, Type};
use serde::{Deserialize, Serialize};

/// A bucket of the strip on `/today`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bucket {
    /// Sessions in `waiting_human` or `awaiting_tool` that need the caller: their task is assigned to the
    /// caller, or their gate is one that the caller may decide and has not snoozed, or they belong to the
    /// caller (a coding agent that asks in its terminal). In everyone's queue: all sessions in these statuses that
    /// are not private.
    NeedsMe,
    /// `running` or `pending` agent and mixed sessions on the caller's tasks.
    Running,
    /// Active actions with an agent and no session that is `running` or `pending` or waits for a person.
    Delegatable,
    /// `failed`, `expired` or `abandoned` sessions on the caller's tasks that changed within
    /// [`FAILED_WINDOW_HOURS`].
    Failed,
    /// Agent and mixed sessions that completed since the start of the caller's local day.
    DoneToday,
}

impl Bucket {
    /// All buckets in the order of the strip.
    pub const ALL: [Self; 5] = [Self::NeedsMe, Self::Running, Self::Delegatable, Self::Failed, Self::DoneToday];

    /// The wire and URL name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NeedsMe => "needs_me",
            Self::Running => "running",
            Self::Delegatable => "delegatable",
            Self::Failed => "failed",
            Self::DoneToday => "done_today",
        }
    }

    /// Returns the bucket with this wire name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|b| b.as_str() == text)
    }

    /// The session statuses that count for this bucket; empty for `Delegatable`, which counts actions.
    pub const fn statuses(self) -> &'static [Status] {
        match self {
            Self::NeedsMe => &[Status::WaitingHuman, Status::AwaitingTool],
            Self::Running => &[Status::Running, Status::Pending],
            Self::Delegatable => &[],
            Self::Failed => &[Status::Failed, Status::Expired, Status::Abandoned],
            Self::DoneToday => &[Status::Completed],
        }
    }

    /// The session types that count for this bucket.
    pub const fn types(self) -> &'static [Type] {
        match self {
            Self::Running | Self::DoneToday => &[Type::Agent, Type::Mixed],
            Self::NeedsMe | Self::Delegatable | Self::Failed => &Type::ALL,
        }
    }
}

/// Time for which a session is in the `Failed` bucket after its last change, hours.
pub const FAILED_WINDOW_HOURS: i64 = 24;
