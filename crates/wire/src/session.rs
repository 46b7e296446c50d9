//! Sessions, and requests to create and cancel them.

use crate::Json;
use domain::{
    Timestamp,
    id::{ActionId, EntityId, EventId, SessionId, UserId},
    session::{EndReason, IfDependencyFails, Status, Type, WaitsFor},
};
use serde::{Deserialize, Serialize};

/// One execution.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// UUID of the session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: SessionId,
    /// agent, response, tool or mixed.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionType))]
    pub session_type: Type,
    /// Status, one of ten.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub status: Status,
    /// Why it ended; null if it has not, or if its status says enough.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::EndReason>))]
    pub end_reason: Option<EndReason>,
    /// The action it executes.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub action_id: Option<ActionId>,
    /// Slug of that action when the session was created.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub action_slug: Option<String>,
    /// The agent that may claim it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::AgentName>))]
    pub agent_slug: Option<String>,
    /// The entity that it is about: the target of its action at creation, or the entity of its parent.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub entity_id: Option<EntityId>,
    /// Part of the product that created the session, or null for a plain one: `thread` is a conversation,
    /// `human-session-bridge` the work of a person, `claude-code` or `pi`, for example, a coding agent that reports by
    /// itself.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::SessionSource>))]
    pub source: Option<String>,
    /// Title, for people.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// What the worker is given.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub input: Option<Json>,
    /// Free.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub metadata: Json,
    /// What the worker returned.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub result: Option<Json>,
    /// Whether its result was left out: lists do so with results of more than 256 KiB. `GET /api/sessions/{id}` has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub result_left_out: bool,
    /// What it cost, as reported: `inputTokens`, `outputTokens`, `costUsd` and others.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub usage: Option<Json>,
    /// Its error, if it failed.
    pub error: Option<SessionError>,
    /// The session that started this one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub parent_id: Option<SessionId>,
    /// What it waits for, as a draft or idle: `dependencies` or `children`.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::WaitsFor>))]
    pub waits_for: Option<WaitsFor>,
    /// The session this one repeats.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub retry_of: Option<SessionId>,
    /// Creator: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// The fencing token: claims so far.
    pub attempt: u32,
    /// Claims after which a lost lease fails it.
    pub attempts_max: u32,
    /// When the holder's lease runs out, while it is running.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub lease_expires_at: Option<Timestamp>,
    /// Sequence of its newest event.
    pub head_sequence: u64,
    /// Digest of its newest event, hex.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Digest))]
    pub head_digest: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When its row last changed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
    /// When it was first claimed or begun.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub started_at: Option<Timestamp>,
    /// When it became final.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub completed_at: Option<Timestamp>,
    /// When the time limit of its present status ends, if its action sets one.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub deadline_at: Option<Timestamp>,
    /// From start to end; absent until it ended.
    pub duration_ms: Option<u64>,
    /// Tags in the order of the alphabet, at most 10.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Tag>, max_items = 10))]
    pub tags: Vec<String>,
    /// The member who looks after it.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub assignee_id: Option<UserId>,
}

/// Why a session failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionError {
    /// Text for people.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Reason))]
    pub message: String,
    /// For machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub code: Option<String>,
}

/// `POST /api/sessions`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateSession {
    /// agent or tool. Response sessions begin with the answers to a form, mixed ones when a person works on a task.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::QueuedSessionType))]
    pub session_type: Type,
    /// An action of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub action_id: Option<ActionId>,
    /// Slug of the agent that may claim it, if the action names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub agent_slug: Option<String>,
    /// At most 300 characters. Default: derived from the action's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Title>))]
    pub title: Option<String>,
    /// Handed to the worker as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
    pub input: Option<Json>,
    /// An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub metadata: Option<Json>,
    /// A session of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub parent_id: Option<SessionId>,
    /// At most 100 sessions of the workspace that must end before this one is queued. Until then it is a draft.
    /// The claim returns their results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Id>, max_items = 100))]
    pub depends_on: Vec<SessionId>,
    /// What happens if one of those does not complete: `abandon` (default) or `run_anyway`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::IfDependencyFails>))]
    pub if_dependency_fails: Option<IfDependencyFails>,
    /// The same key answers with the same session again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub idempotency_key: Option<String>,
}

/// `POST /api/sessions/{id}/tags`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TagSession {
    /// Tags to add. Those that the session has are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Tag>, max_items = 10))]
    pub add: Vec<String>,
    /// Tags to remove. Those that the session has not are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Tag>, max_items = 10))]
    pub remove: Vec<String>,
}

/// `POST /api/sessions/{id}/assignee`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AssignSession {
    /// An active member of the workspace; null or absent for no one.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub user_id: Option<UserId>,
}

/// `GET /api/sessions/{id}/dependencies`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Dependencies {
    /// What the session depends on, in the order in which it was named.
    pub dependencies: Vec<Neighbour>,
    /// What depends on it, oldest first; at most 200.
    pub dependents: Vec<Neighbour>,
}

/// A session beside another one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Neighbour {
    /// UUID of the session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Its action's slug.
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
    /// What happens to the dependent session if the other does not complete: `abandon` or `run_anyway`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::IfDependencyFails))]
    pub if_dependency_fails: IfDependencyFails,
}

/// `POST /api/sessions/{id}/messages`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendSessionMessage {
    /// 1 to 20,000 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Message))]
    pub text: String,
    /// UUID chosen by the client. A repeated request with it is answered with the recorded message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub id: Option<EventId>,
}

/// The answer to a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionMessageReceipt {
    /// UUID of the message's event.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub event_id: EventId,
    /// Sequence of the message's event.
    pub sequence: u64,
    /// The session after the message.
    pub session: Session,
}

/// `POST /api/sessions/{id}/tool-results`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SupplyToolResults {
    /// 1 to 100 results, each of another call.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 100))]
    pub results: Vec<NewToolResult>,
    /// Whether more results follow, so that the session keeps waiting; false when absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// The result of one call of a custom tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewToolResult {
    /// Id of the call, as the worker named it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub tool_call_id: String,
    /// Name of the tool; that of the call in the log when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub tool_name: Option<String>,
    /// What the tool returned: any JSON, at most 256 KiB; all results for one wait have at most 1 MiB.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub output: Json,
    /// Whether the tool failed, so that its output says why; false when absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// `POST /api/sessions/{id}/cancel`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cancel {
    /// At most 4,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub reason: Option<String>,
}
