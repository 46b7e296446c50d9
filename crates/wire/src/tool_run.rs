//! Runs of tools.

use crate::{Json, session::SessionError};
use domain::{
    id::SessionId,
    session::{EndReason, Status},
};
use serde::{Deserialize, Serialize};

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
    /// How long to wait for the end, 0 to 30; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 30))]
    pub wait_seconds: Option<u32>,
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
