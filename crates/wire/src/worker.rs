//! Requests and responses of the worker API: claim, heartbeat, complete, fail, yield, release.

use crate::{
    Json,
    approval::Denial,
    session::{Session, SessionError},
};
use domain::{
    Timestamp,
    gate::{GateKind, PausedToolCall, Question, Verdict},
    session::{EndReason, Status, WaitsFor},
};
use serde::{Deserialize, Serialize};

/// `POST /api/sessions/claim`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claim {
    /// Only sessions of these agents; any agent session when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = Option<Vec<crate::schema::Slug>>, min_items = 1, max_items = 100)
    )]
    pub agent_slugs: Option<Vec<String>>,
    /// At most this many, 1 to 100; default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 100))]
    pub max: Option<u32>,
    /// 1 to 3,600; default 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 3600))]
    pub lease_seconds: Option<u32>,
    /// How long to wait for work, 0 to 60; default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 60))]
    pub wait_seconds: Option<u32>,
}

/// `POST /api/sessions/{id}/deltas`, and the data of a follower's `delta` event: the next piece of an answer that is not
/// finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Delta {
    /// The fencing token of the worker that speaks.
    pub attempt: u32,
    /// Bytes of the answer (UTF-8) before this piece; 0 begins an answer.
    pub offset: u64,
    /// The piece, 1 to 16,384 bytes.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::DeltaText))]
    pub text: String,
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
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub input: Option<Json>,
    /// What the person who triggered the session was doing just now, as a block of untrusted text for the end of the
    /// agent's prompt; null when they work on nothing. Recorded as `session.context_injected`.
    #[serde(default)]
    pub context: Option<String>,
    /// With what the session goes on after a person decided; null where it did not wait for one.
    #[serde(default)]
    pub resume: Option<Resume>,
    /// Outputs of this session that were denied, oldest first, with the reasons to do better by.
    #[serde(default)]
    pub denials: Vec<Denial>,
    /// What came of the sessions that this one depends on, in the order in which they were named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Related>,
    /// The sessions that this one has started, and what came of them, oldest first, at most 100; from the second claim on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Related>,
    /// Whether it has started more than those: `GET /api/sessions?parentId=` lists them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more_children: bool,
}

/// A session around the claimed one, and what came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Related {
    /// The session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: String,
    /// Its action's slug.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub action_slug: Option<String>,
    /// Its agent.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub agent_slug: Option<String>,
    /// For people.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// One of ten.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub status: Status,
    /// Why it ended, where it did.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::EndReason>))]
    pub end_reason: Option<EndReason>,
    /// Its result, where it has one and there was room for it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub output: Option<Json>,
    /// It has a result and there was no room for it: a claim brings 256 KiB of them. `GET /api/sessions/{id}` has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub output_left_out: bool,
    /// What went wrong, where it failed.
    pub error: Option<SessionError>,
}

/// What was decided at the gate from which a session comes back.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// The gate.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub gate_id: String,
    /// tool or question.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::GateKind))]
    pub kind: GateKind,
    /// The paused call's id.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub tool_call_id: Option<String>,
    /// The paused call's tool.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub tool_name: Option<String>,
    /// approve, edit, deny or respond.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Verdict))]
    pub decision: Verdict,
    /// The arguments to call the tool with, as they were approved; null unless they were.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub tool_input: Option<Json>,
    /// What the person said.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// The answer to the question, or the result given in the call's place.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub answer: Option<Json>,
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
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
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
    /// An object, as of `…/complete`: what the session has cost until it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub usage: Option<Json>,
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
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub detail: Option<String>,
    /// With awaiting_tool: the call that must not run before a person has approved it. Without one, a result is awaited
    /// from elsewhere and nobody is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::PausedToolCall>))]
    pub paused_tool_call: Option<PausedToolCall>,
    /// With waiting_human: what the person is asked; without it, `detail` is the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Question>))]
    pub question: Option<Question>,
    /// With idle: `children`, to go back to the queue by itself once every session that this one started has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::WaitFor>))]
    pub wait_for: Option<WaitsFor>,
    /// An object: what the session has cost so far. Kept as the session's `usage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub usage: Option<Json>,
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
