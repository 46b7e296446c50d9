//! Ten session statuses seen as five states of a field or block.

use crate::session::Status;
use serde::{Deserialize, Serialize};

/// The state of one field or block on an entity page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockStatus {
    /// Work is under way.
    InProgress,
    /// The last work on it finished.
    Complete,
    /// A person has to act.
    WaitingHuman,
    /// The last work on it ended badly.
    Failed,
    /// Work is queued or has not begun.
    Pending,
}

/// The block status of a session status.
pub const fn of(status: Status) -> BlockStatus {
    match status {
        Status::Running | Status::AwaitingTool | Status::Idle => BlockStatus::InProgress,
        Status::Completed => BlockStatus::Complete,
        Status::WaitingHuman => BlockStatus::WaitingHuman,
        Status::Failed | Status::Expired | Status::Abandoned => BlockStatus::Failed,
        Status::Draft | Status::Pending => BlockStatus::Pending,
    }
}
