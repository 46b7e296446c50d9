//! Runs of tools.

use crate::{Json, session::SessionError};
use domain::{
    Timestamp,
    id::{ActionId, EntityId, SessionId, ToolId},
    session::{EndReason, Status},
    tool::RunState,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// `POST /api/tools/{slug}/run`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunTool {
    /// An object that the tool's input schema allows. Default: the defaults of that schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub input: Option<Json>,
    /// A request with the same key runs once. It is answered with the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub idempotency_key: Option<String>,
    /// The session that starts this one, of the same workspace. The run is its child and ends if it is cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub parent_id: Option<SessionId>,
    /// Task that writes the result to an entity when the run completes, as `promote` does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<PromoteToolSession>,
    /// How long to wait for the end, 0 to 30; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 30))]
    pub wait_seconds: Option<u32>,
}

/// `POST /api/tool-sessions/{id}/promote`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromoteToolSession {
    /// UUID of the task whose output the result is. Its output is one entity.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub action_id: ActionId,
    /// UUID of the entity that is written. Default: the one that the task is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub entity_id: Option<EntityId>,
    /// JSON Pointer into the result for each field of the entity, by the field's slug or `title`. Without any, the
    /// result itself is an object with the fields.
    #[serde(default)]
    #[cfg_attr(
        feature = "openapi",
        schema(value_type = BTreeMap<String, crate::schema::ToolPointer>, required = false)
    )]
    pub fields: BTreeMap<String, String>,
}

/// `POST /api/tools/{slug}/sessions`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenToolDraft {
    /// Fields that are filled in already, by name. They need not be complete or valid.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub fields: Map<String, Value>,
    /// A request with the same key opens one draft. It is answered with the same session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Key>))]
    pub idempotency_key: Option<String>,
}

/// `PATCH /api/tool-sessions/{id}/fields`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangeToolFields {
    /// `draft.rev` of the draft that was read.
    pub rev: u64,
    /// New values by the names of the fields; `null` removes one. Fields that are not named stay.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub fields: Map<String, Value>,
    /// Whether the person leaves the form: the log gets every change at once.
    #[serde(default)]
    pub leaving: bool,
}

/// `POST /api/tool-sessions/{id}/run`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunToolDraft {
    /// `draft.rev` of the draft that was read. Default: the draft as it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<u64>,
    /// Last changes, such as the values of private fields, which no draft keeps; `null` removes a field.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub fields: Map<String, Value>,
    /// Task that writes the result to an entity when the run completes, as `promote` does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<PromoteToolSession>,
    /// How long to wait for the end, 0 to 30; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 30))]
    pub wait_seconds: Option<u32>,
}

/// `PUT /api/tools/{slug}/inputs/{name}`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SaveToolInput {
    /// Fields by name, 64 KiB of JSON at most.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub fields: Map<String, Value>,
}

/// An input of a tool that a person saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SavedToolInput {
    /// Name, unique among those of the person for the tool.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// Fields by name, without private values.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub fields: Map<String, Value>,
    /// Time it was saved last.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub saved_at: Timestamp,
}

/// `GET /api/tools/{slug}/inputs`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SavedToolInputs {
    /// By name.
    pub saved_inputs: Vec<SavedToolInput>,
}

/// The fields of a run that has not begun.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolDraft {
    /// Number of saves; 1 at first. A change names it.
    pub rev: u64,
    /// The fields so far, without private values.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub fields: Map<String, Value>,
    /// Time of the last save.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub saved_at: Timestamp,
}

/// The session of a run, with its result or error.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolRun {
    /// UUID of the session of the run. Its log has the calls.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Slug of the tool.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub slug: String,
    /// Version of the tool that it runs; 0 for a test of the working copy.
    pub version: u64,
    /// Revision of the working copy that a test runs; absent for a run of a version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Status of the session, one of ten.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub status: Status,
    /// Why it ended; null if it has not, or if its status says enough.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::EndReason>))]
    pub end_reason: Option<EndReason>,
    /// What the tool returned: any JSON. For an HTTP call `{status, body}`, and `cut` if the end of the body is left
    /// out.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub result: Option<Json>,
    /// Its error, if it failed. The code `may_have_run` says that the tool may have run.
    pub error: Option<SessionError>,
    /// From start to end; absent until it ended.
    pub duration_ms: Option<u64>,
}

/// The entity to which the result of a run is written when it completes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolRunOutput {
    /// UUID of the task whose output the result is.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub action_id: ActionId,
    /// UUID of the entity; null for the one that the task is about.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub entity_id: Option<EntityId>,
    /// UUID of the session of the task, once it has begun.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub session_id: Option<SessionId>,
    /// Why the result was not written.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub refused: Option<String>,
}

/// The session of a tool, with one of three statuses.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolSession {
    /// UUID of the session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: SessionId,
    /// UUID of the tool; null for a session that runs no tool of the workspace.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub tool_id: Option<ToolId>,
    /// Name of the tool in URLs; null if `toolId` is.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub tool_slug: Option<String>,
    /// Version of the tool that it runs; 0 for a test of the working copy.
    pub version: Option<u64>,
    /// Revision of the working copy that a test runs; absent for a run of a version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Title of the session: the name of the tool.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub name: String,
    /// `active` until it ends; `completed` with a result; `cancelled` if it was cancelled, failed or expired.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ToolSessionStatus))]
    pub status: RunState,
    /// Status of the session, one of ten.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub session_status: Status,
    /// The session that started this one, such as the run of a composite tool.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub parent_id: Option<SessionId>,
    /// Its fields until the run begins; null since.
    pub draft: Option<ToolDraft>,
    /// Its input without private values.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub input: Option<Json>,
    /// What the tool returned.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub result: Option<Json>,
    /// Whether its result was left out: lists do so with results of more than 256 KiB. `GET /api/tool-sessions/{id}`
    /// has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub result_left_out: bool,
    /// Its error, if it failed.
    pub error: Option<SessionError>,
    /// The entity to which its result is written, if that was asked for with the run. Lists leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<ToolRunOutput>,
    /// Creator: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When it was first claimed or begun.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub started_at: Option<Timestamp>,
    /// When it became final.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub completed_at: Option<Timestamp>,
    /// From start to end; absent until it ended.
    pub duration_ms: Option<u64>,
}
