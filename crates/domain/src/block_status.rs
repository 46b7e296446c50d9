//! Maps the ten statuses of a session to five states of a field or block on an entity's page.

use crate::session::Status;
use serde::{Deserialize, Serialize};

/// The state of one field or block on an entity page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockStatus {
    /// A session is running, awaits a tool, or is idle.
    InProgress,
    /// The newest session completed.
    Complete,
    /// A session waits for a person.
    WaitingHuman,
    /// The newest session failed, expired or was abandoned.
    Failed,
    /// A session is pending or a draft.
    Pending,
}

/// Returns the block status that corresponds to a session's status.
pub const fn of(status: Status) -> BlockStatus {
    match status {
        Status::Running | Status::AwaitingTool | Status::Idle => BlockStatus::InProgress,
        Status::Completed => BlockStatus::Complete,
        Status::WaitingHuman => BlockStatus::WaitingHuman,
        Status::Failed | Status::Expired | Status::Abandoned => BlockStatus::Failed,
        Status::Draft | Status::Pending => BlockStatus::Pending,
    }
}
