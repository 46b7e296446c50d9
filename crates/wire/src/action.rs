//! Actions, and requests to create, change and trigger them.

use crate::{Json, session::Session};
use domain::{
    Timestamp,
    action::{ActionStatus, OutputType},
    session::{IfDependencyFails, Status},
};
use serde::{Deserialize, Deserializer, Serialize};

/// Configured work; the UI calls it a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// Id.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: String,
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
    pub assigned_to: Option<String>,
    /// The entity it is about.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub target_entity_id: Option<String>,
    /// What its sessions produce.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::OutputType))]
    pub output_type: OutputType,
    /// Output contract: `schema` (a JSON Schema for results), `entityType` and `relationField` (what results become),
    /// `criteria_set_ids` (what they are judged by). `{"fields": ["stage"], "blocks": ["sessions"]}` names the fields
    /// and blocks of the target entity that its sessions write; their status shows there.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub output_config: Json,
    /// Free, but for `inputSchema`: a JSON Schema of the input, of which the page that triggers the action makes a form.
    /// An input that breaks it is refused.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub metadata: Json,
    /// active or archived.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ActionStatus))]
    pub status: ActionStatus,
    /// When it was made.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When it last changed.
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
    /// Made from the name when absent.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub slug: Option<String>,
    /// At most 10,000 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Description>))]
    pub description: Option<String>,
    /// A slug.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub agent_slug: Option<String>,
    /// A member's user id.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub assigned_to: Option<String>,
    /// An entity's id.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub target_entity_id: Option<String>,
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
    /// A slug.
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
    pub assigned_to: Option<Option<String>>,
    /// An entity's id, or null.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub target_entity_id: Option<Option<String>>,
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
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

/// What a caller should know about a request that was done.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// For programs: `no_agent`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::WarningCode))]
    pub code: String,
    /// For people.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Reason))]
    pub message: String,
}

/// The answer to a trigger: the session, and what its caller should know.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Triggered {
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// Empty where there is nothing to say.
    pub warnings: Vec<Warning>,
}

/// `POST /api/actions/{id}/trigger`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trigger {
    /// Handed to the worker as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson, required = false))]
    pub input: Option<Json>,
    /// The session of the workspace that starts this one; a worker names the one it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub parent_id: Option<String>,
    /// Sessions of the workspace, at most 100, that have to end before this one is queued: until then it is a draft that
    /// waits, and the claim brings what came of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Id>, max_items = 100))]
    pub depends_on: Vec<String>,
    /// What becomes of it when one of those does not complete: `abandon`, the default, or `run_anyway`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::IfDependencyFails>))]
    pub if_dependency_fails: Option<IfDependencyFails>,
    /// The same key answers with the same session again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub idempotency_key: Option<String>,
}

/// `GET /api/actions/{id}/task-status`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// The action.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub action_id: String,
    /// Its newest session, where there is one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub session_id: Option<String>,
    /// That session's status.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::SessionStatus>))]
    pub status: Option<Status>,
    /// From its start to its end, or to now while it runs.
    pub duration_ms: Option<u64>,
    /// Its error, where it failed.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub error: Option<String>,
}
