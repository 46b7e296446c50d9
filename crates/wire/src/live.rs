//! Signals of `GET /api/live`. They carry no content. A reader that gets one fetches the data that it may see.

use domain::id::SessionId;
use serde::{Deserialize, Serialize};

/// SSE event `session`: this session's log or status moved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionMoved {
    /// UUID of the session whose log or status changed.
    pub session_id: SessionId,
    /// Its newest sequence.
    pub head_sequence: u64,
    /// Status of the session after the change.
    pub status: domain::session::Status,
}
