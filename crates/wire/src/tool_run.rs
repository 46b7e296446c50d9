//! Runs of tools.

use crate::{Json, session::SessionError};
use domain::{
    Timestamp,
    id::{ActionId, EntityId, SessionId, ToolId},
    session::{EndReason, Status},
    tool::RunState,
};
use serde::{Deserialize, Serialize};
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
    /// Version of the tool that it runs.
    pub version: u64,
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
    /// Version of the tool that it runs.
    pub version: Option<u64>,
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
    /// Its input without private values.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub input: Option<Json>,
    /// What the tool returned.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnyJson))]
    pub result: Option<Json>,
    /// Its error, if it failed.
    pub error: Option<SessionError>,
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
