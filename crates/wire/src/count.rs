//! Counts of the work queue's buckets, which pages show as a strip.

use serde::{Deserialize, Serialize};

/// `GET /api/today/work-queue-counts`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkQueueCounts {
    /// Sessions that wait for the caller.
    pub needs_me: u64,
    /// Pending or running on the caller's tasks.
    pub running: u64,
    /// Actions an agent could take on now.
    pub delegatable: u64,
    /// Ended badly within 24 hours on the caller's tasks.
    pub failed: u64,
    /// Completed since the caller's local midnight.
    pub done_today: u64,
}
