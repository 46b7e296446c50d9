//! The response to a hook of a coding agent. The request is the agent's own JSON and has no type here.

use serde::{Deserialize, Serialize};

/// `POST /api/hooks/{source}`: the answer that the coding agent reads. An empty object if there is no context.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HookAnswer {
    /// Output for the agent's next turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<HookOutput>,
}

/// Context for the agent's next turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HookOutput {
    /// The hook that is answered.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::HookName))]
    pub hook_event_name: String,
    /// Recent activity of the agent's person and memories of the agent: untrusted text between tags that mark it so. At
    /// most 10,000 bytes for Codex, and 10,000 UTF-16 units for every other host.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::HookContext))]
    pub additional_context: String,
}
