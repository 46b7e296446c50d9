//! The response to a hook of a coding agent. The request is the agent's own JSON and has no type here.

use serde::{Deserialize, Serialize};

/// `POST /api/hooks/{source}`: an empty object where there is nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HookAnswer {
    /// What the agent is told.
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
    /// What its person was doing lately: untrusted text in a frame that says so, under 10,000 characters.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::HookContext))]
    pub additional_context: String,
}
