//! Paced runs: sessions that are run again a few at a time, or from a time on.

use domain::{
    Timestamp,
    id::{PacedRunId, SessionId},
    paced_run::{Outcome, State},
    session::Status,
};
use serde::{Deserialize, Serialize};

/// `POST /api/paced-runs`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPacedRun {
    /// Sessions in the order in which they are started, 1 to 500.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Id>, min_items = 1, max_items = 500))]
    pub session_ids: Vec<SessionId>,
    /// How many of the new sessions are queued or running at a time: 1 to 500. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 500))]
    pub at_a_time: Option<u32>,
    /// Time from which sessions are started, at most 30 days from now. Default: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub start_at: Option<Timestamp>,
    /// A repeated request with the same key returns the paced run of the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub idempotency_key: Option<String>,
}

/// Sessions that are run again at a pace, as numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacedRun {
    /// UUID of the paced run.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: PacedRunId,
    /// `open` while it has sessions left to start, `done` or `cancelled`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::PacedRunState))]
    pub state: State,
    /// How many of the new sessions are queued or running at a time.
    pub at_a_time: u32,
    /// Time from which sessions are started (UTC).
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub start_at: Timestamp,
    /// Author of the request: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Time of the request (UTC).
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time its last session was started, or it was cancelled (UTC). Null while it is open.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub ended_at: Option<Timestamp>,
    /// Sessions whose turn has not come.
    pub waiting: u64,
    /// New sessions that have not ended.
    pub running: u64,
    /// New sessions that were completed.
    pub completed: u64,
    /// New sessions that ended in another way.
    pub failed: u64,
    /// Sessions that someone had run again before their turn came.
    pub already: u64,
    /// Sessions that cannot be run again.
    pub refused: u64,
    /// Sessions that waited when the paced run was cancelled.
    pub cancelled: u64,
}

/// A paced run with its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacedRunDetail {
    /// The run and its numbers.
    #[serde(flatten)]
    pub run: PacedRun,
    /// Its sessions in the order in which they are started, at most 500.
    pub sessions: Vec<PacedSession>,
}

/// One session of a paced run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PacedSession {
    /// Id as it was sent.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Its title; null if the caller cannot see it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Title>))]
    pub title: Option<String>,
    /// Whether it waits, was started, or why it was not.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::PacedOutcome))]
    pub outcome: Outcome,
    /// The session that runs it again.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub new_session_id: Option<SessionId>,
    /// Status of that session now.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::SessionStatus>))]
    pub status: Option<Status>,
    /// Why it cannot be run again.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub reason: Option<String>,
}
