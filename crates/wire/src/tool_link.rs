//! Links with which people without an account run one tool.

use domain::{
    Timestamp,
    id::{ToolId, ToolLinkId},
};
use serde::{Deserialize, Serialize};

/// A link to a tool, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolLink {
    /// UUID of the link. It gives no access.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: ToolLinkId,
    /// UUID of the tool that it runs.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub tool_id: ToolId,
    /// First characters of the secret.
    #[cfg_attr(feature = "openapi", schema(max_length = 10))]
    pub hint: String,
    /// Creator: `user:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time from which it does not work.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub expires_at: Timestamp,
    /// Number of times that a browser opened the page with it.
    pub uses: u64,
    /// Time a browser did so last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_used_at: Option<Timestamp>,
    /// Number of runs that were begun by it.
    pub runs: u64,
    /// Time it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub revoked_at: Option<Timestamp>,
}

/// `POST /api/tools/{slug}/links`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateToolLink {
    /// For how many days it works, 1 to 30. Default: 7.
    #[serde(default = "default_days")]
    #[cfg_attr(feature = "openapi", schema(required = false, minimum = 1, maximum = 30))]
    pub days: u32,
}

/// For how many days a link works by default.
const DAYS_DEFAULT: u32 = 7;

fn default_days() -> u32 {
    DAYS_DEFAULT
}

impl Default for CreateToolLink {
    fn default() -> Self {
        Self { days: DAYS_DEFAULT }
    }
}

/// The answer to `POST /api/tools/{slug}/links`. The address contains the secret, which is not shown again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreatedToolLink {
    /// What a list shows of it.
    pub link: ToolLink,
    /// Address to give to people.
    #[cfg_attr(feature = "openapi", schema(max_length = 2048))]
    pub url: String,
}

/// `GET /api/tools/{slug}/links`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolLinks {
    /// The newest links, whether they work or not, newest first.
    pub links: Vec<ToolLink>,
}
