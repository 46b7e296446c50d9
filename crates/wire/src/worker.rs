//! What workers say: claim, heartbeat, complete, fail, yield, release.

use crate::{
    Json,
    session::{Session, SessionError},
};
use domain::Timestamp;
use serde::{Deserialize, Serialize};

/// `POST /api/sessions/claim`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claim {
    /// Only sessions of these agents; any agent session when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_slugs: Option<Vec<String>>,
    /// At most this many, 1 to 100; default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// 1 to 3,600; default 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_seconds: Option<u32>,
    /// How long to wait for work, 0 to 60; default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds: Option<u32>,
}

/// The answer to a claim; empty when there was nothing to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Claimed {
    /// Oldest first.
    pub sessions: Vec<ClaimedSession>,
}

/// One session, held by the caller until the lease runs out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClaimedSession {
    /// The session.
    pub session: Session,
    /// The fencing token: send it with every write.
    pub attempt: u32,
    /// Send a heartbeat well before this.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub lease_expires_at: Timestamp,
    /// The session's input.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub input: Option<Json>,
    /// What the person who triggered the session was doing just now, as a block of untrusted text for the end of the
    /// agent's prompt; null when they work on nothing. Recorded as `session.context_injected`.
    #[serde(default)]
    pub context: Option<String>,
}

/// `POST …/heartbeat` and `POST …/release`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attempt {
    /// The fencing token.
    pub attempt: u32,
}

/// The answer to a heartbeat.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// Send the next heartbeat well before this.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub lease_expires_at: Timestamp,
}

/// `POST …/complete`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Complete {
    /// The fencing token.
    pub attempt: u32,
    /// JSON that keeps the output contract of the session's action.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub result: Option<Json>,
    /// An object; `inputTokens`, `outputTokens` and `costUsd` are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub usage: Option<Json>,
}

/// `POST …/fail`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fail {
    /// The fencing token.
    pub attempt: u32,
    /// What went wrong.
    pub error: SessionError,
}

/// `POST …/yield`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Yield {
    /// The fencing token.
    pub attempt: u32,
    /// idle, waiting_human or awaiting_tool.
    pub status: YieldStatus,
    /// What is awaited, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Where a worker parks its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum YieldStatus {
    /// An external agent rests.
    Idle,
    /// A person has to answer.
    WaitingHuman,
    /// A tool's result or approval is awaited.
    AwaitingTool,
}
