//! Actions, and requests to create, change and trigger them.

use crate::{Json, session::Session};
use domain::{
    Timestamp,
    action::{ActionStatus, OutputType},
    id::{ActionId, EntityId, SessionId, UserId},
    session::{IfDependencyFails, Status},
};
use serde::{Deserialize, Deserializer, Serialize};

/// Configured work; the UI calls it a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// UUID of the action.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: ActionId,
    /// Display name.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// URL name, unique in the workspace.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub slug: String,
    /// Free text: what is to be done. Agents receive it as instructions.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Description))]
    pub description: String,
    /// The agent that may claim its sessions.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub agent_slug: Option<String>,
    /// The person whose task it is.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub assigned_to: Option<UserId>,
    /// The entity it is about.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub target_entity_id: Option<EntityId>,
    /// What its sessions produce.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::OutputType))]
    pub output_type: OutputType,
    /// Output contract: `schema` (a JSON Schema for results), `entityType` and `relationField` (what results become),
    /// `criteria_set_ids` (what they are judged by). `{"fields": ["stage"], "blocks": ["sessions"]}` names the fields
    /// and blocks of the target entity that its sessions write; their status shows there.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub output_config: Json,
    /// Any object. `inputSchema` is a JSON Schema of the input: the page that runs the task shows it as a form,
    /// and an input that violates it is refused.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub metadata: Json,
    /// active or archived.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ActionStatus))]
    pub status: ActionStatus,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time of the last change.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// `POST /api/actions`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateAction {
    /// 1 to 200 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// Default: derived from the name.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub slug: Option<String>,
    /// At most 10,000 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Description>))]
    pub description: Option<String>,
    /// Slug of the agent that may claim its sessions.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub agent_slug: Option<String>,
    /// A member's user id.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub assigned_to: Option<UserId>,
    /// An entity's id.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub target_entity_id: Option<EntityId>,
    /// Default `text`.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::OutputType>))]
    pub output_type: Option<OutputType>,
    /// An object.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub output_config: Option<Json>,
    /// An object.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub metadata: Option<Json>,
}

/// `PATCH /api/actions/{id}`: absent fields stay, `null` clears where a field can be empty.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateAction {
    /// 1 to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub name: Option<String>,
    /// Slug, unique in the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub slug: Option<String>,
    /// At most 10,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Description>))]
    pub description: Option<String>,
    /// A slug, or null.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub agent_slug: Option<Option<String>>,
    /// A member's user id, or null.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub assigned_to: Option<Option<UserId>>,
    /// An entity's id, or null.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub target_entity_id: Option<Option<EntityId>>,
    /// What its sessions produce.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::OutputType>))]
    pub output_type: Option<OutputType>,
    /// An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub output_config: Option<Json>,
    /// An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub metadata: Option<Json>,
    /// active or archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ActionStatus>))]
    pub status: Option<ActionStatus>,
}

/// Tells `null` (clear it) from an absent field (leave it).
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

/// A note about a request that was accepted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// Code for programs: `no_agent`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::WarningCode))]
    pub code: String,
    /// Text for people.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Reason))]
    pub message: String,
}

/// The answer to a trigger: the new session, and warnings about it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Triggered {
    /// The queued session, or the draft if it waits for others.
    #[serde(flatten)]
    pub session: Session,
    /// Empty if there are none.
    pub warnings: Vec<Warning>,
}

/// `POST /api/actions/{id}/trigger`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trigger {
    /// Passed to the worker unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
    pub input: Option<Json>,
    /// Session of the workspace that starts this one. A worker names the session that it has claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// A request with the same key is answered with the same session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub idempotency_key: Option<String>,
}

/// `GET /api/actions/{id}/task-status`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// Action whose newest session is described.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub action_id: ActionId,
    /// Its newest session; null if it has none.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub session_id: Option<SessionId>,
    /// That session's status.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::SessionStatus>))]
    pub status: Option<Status>,
    /// From its start to its end, or to now while it runs, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Its error, if it failed.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub error: Option<String>,
    /// The newest events of that session, oldest first, at most 10.
    #[serde(default)]
    pub recent_events: Vec<crate::event::Event>,
}
