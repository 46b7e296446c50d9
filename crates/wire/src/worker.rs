//! Requests and responses of the worker API: claim, heartbeat, complete, fail, yield, wake, release.

use crate::{
    Json,
    approval::Denial,
    feedback_request::{Respondent, SessionContext},
    session::{Session, SessionError},
};
use domain::{
    Timestamp,
    feedback_request::Outcome,
    gate::{GateKind, PausedToolCall, Question, Verdict},
    id::{FeedbackRequestId, GateId, SessionId},
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
        schema(value_type = Option<Vec<crate::schema::AgentName>>, min_items = 1, max_items = 100)
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

/// Header in which a worker says its name with claims and heartbeats: 1 to 64 visible ASCII characters. Pages count the
/// workers of an agent by it. Without one all workers with one token count as one.
pub const NAME_HEADER: &str = "shiftbook-worker";

/// `POST /api/sessions/{id}/deltas`, and the data of a follower's `delta` event: the next piece of an unfinished
/// answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Delta {
    /// Fencing token of the worker that sends the piece.
    pub attempt: u32,
    /// Bytes of the answer (UTF-8) before this piece; 0 begins an answer.
    pub offset: u64,
    /// The piece, 1 to 16,384 bytes.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::DeltaText))]
    pub text: String,
}

/// `POST /api/sessions/{id}/progress`, and the data of a follower's `progress` event: how far a worker is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Progress {
    /// Fencing token of the worker that sends it.
    pub attempt: u32,
    /// Number of steps that are done.
    pub done: u64,
    /// Number of all steps, at least `done`; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Current activity: one line of 1 to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub note: Option<String>,
}

/// The answer to a claim. Empty if no session was queued.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Claimed {
    /// Oldest first.
    pub sessions: Vec<ClaimedSession>,
}

/// A session that the caller has claimed until its lease expires.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClaimedSession {
    /// The session, now running.
    pub session: Session,
    /// The fencing token: send it with every write.
    pub attempt: u32,
    /// Send a heartbeat well before this.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub lease_expires_at: Timestamp,
    /// The session's input.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub input: Option<Json>,
    /// Recent activity of the person who triggered the session, as a block of untrusted text for the end of the
    /// agent's prompt; null if they work on nothing. Recorded as `session.context_injected`.
    #[serde(default)]
    pub context: Option<String>,
    /// Whether the agent is to rate the memories in `context`: `POST /api/sessions/{id}/memory-feedback`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rate_memories: bool,
    /// The decision with which the session continues; null if it did not wait for one.
    #[serde(default)]
    pub resume: Option<Resume>,
    /// Results of custom tools for which the session waited, in the order in which they were supplied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_results: Vec<ToolResult>,
    /// Messages since the worker left the session idle, oldest first, at most 100. A conversation has none here: its
    /// worker reads all of its messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<ClaimedMessage>,
    /// Whether its log has more such messages: `GET /api/sessions/{id}/events?eventTypes=user.message`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more_messages: bool,
    /// Answers of people to requests for which the session did not wait; null if there are none. No other claim gets
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_context: Option<SessionContext>,
    /// Outputs of this session that were denied, with the reviewers' reasons, oldest first.
    #[serde(default)]
    pub denials: Vec<Denial>,
    /// Results of the sessions that this one depends on, in the order in which they were named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Related>,
    /// Results of the sessions that this one has started, oldest first, at most 100; from the second claim on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Related>,
    /// Whether it has started more than `children` lists: `GET /api/sessions?parentId=` lists all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more_children: bool,
}

/// The result of a custom tool, for which the session waited. It is untrusted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Which call of the agent it answers: `toolCallId` of that event.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub tool_call_id: String,
    /// Name of the tool; null if neither the log nor the supplier names it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub tool_name: Option<String>,
    /// What the tool returned.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub output: Json,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Who supplied it: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub by: String,
    /// When it was recorded.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
}

/// A message with which a session continues that was idle.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClaimedMessage {
    /// Sequence of its event.
    pub sequence: u64,
    /// What was written.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Message))]
    pub text: String,
    /// Who sent it: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub by: String,
    /// When it was recorded.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
}

/// A session that the claimed one depends on or has started, with its result.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Related {
    /// UUID of the related session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Slug of the action that it executes.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub action_slug: Option<String>,
    /// Agent that it was queued for.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::AgentName>))]
    pub agent_slug: Option<String>,
    /// Title, for people.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// Status, one of ten.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub status: Status,
    /// Why it ended; null if it has not, or if its status says enough.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::EndReason>))]
    pub end_reason: Option<EndReason>,
    /// Its result; null if it has none, or if it was left out.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub output: Option<Json>,
    /// Whether its result was left out, because a claim returns at most 256 KiB of results. `GET /api/sessions/{id}`
    /// returns it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub output_left_out: bool,
    /// Its error, if it failed.
    pub error: Option<SessionError>,
}

/// The decision at the gate that the session waited for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// UUID of the gate.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub gate_id: GateId,
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
    /// The approved arguments of the tool call; null if the call was not approved.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub tool_input: Option<Json>,
    /// Note of the person who decided.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub note: Option<String>,
    /// The answer to the question, or the result that replaces the tool call's. It is untrusted.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub answer: Option<Json>,
    /// The request that the question belongs to, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub request_id: Option<FeedbackRequestId>,
    /// How the question ended: answered, declined, cancelled or nobody_answered; null for a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::AnswerOutcome>))]
    pub outcome: Option<Outcome>,
    /// Who ended it; null for a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub respondent: Option<Respondent>,
    /// Question and answer as a block of untrusted text for the agent's prompt; null for a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
}

/// `POST …/heartbeat` and `POST …/release`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attempt {
    /// The fencing token.
    pub attempt: u32,
}

/// `POST …/wake`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Wake {
    /// The fencing token of the claim that yielded the session.
    pub attempt: u32,
    /// 1 to 3,600; default 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 3600))]
    pub lease_seconds: Option<u32>,
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
    /// JSON that satisfies the output contract of the session's action.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
    pub result: Option<Json>,
    /// An object; `inputTokens`, `outputTokens` and `costUsd` are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub usage: Option<Json>,
    /// Complete it only in this status; in another one the answer is `409 wrong_status`. A program that runs commands
    /// sends `running`, because a command may yield its session and then end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::SessionStatus>))]
    pub if_status: Option<Status>,
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
    /// An object, as for `…/complete`: the cost of the session until it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub usage: Option<Json>,
    /// Fail it only in this status, as for `…/complete`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::SessionStatus>))]
    pub if_status: Option<Status>,
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
    /// What the session waits for, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub detail: Option<String>,
    /// With awaiting_tool: the call that must not run before a person has approved it. Without it the session waits
    /// for `POST /api/sessions/{id}/tool-results`, and no one is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::PausedToolCall>))]
    pub paused_tool_call: Option<PausedToolCall>,
    /// With waiting_human: the question for the person. Default: `detail` is the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Question>))]
    pub question: Option<Question>,
    /// With idle: `children` queues the session again when every session that it started has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::WaitFor>))]
    pub wait_for: Option<WaitsFor>,
    /// An object: the cost of the session so far. Stored as the session's `usage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub usage: Option<Json>,
}

/// Status in which a worker yields its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum YieldStatus {
    /// The session waits for its next turn or for other sessions.
    Idle,
    /// A person has to answer.
    WaitingHuman,
    /// A tool's result or approval is awaited.
    AwaitingTool,
}
