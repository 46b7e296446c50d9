//! Links with which people without an account read one session.

use domain::{
    Timestamp,
    id::{SessionId, ShareLinkId},
    share_link::Audience,
};
use serde::{Deserialize, Serialize};

/// A link to a session, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShareLink {
    /// UUID of the link. It gives no access.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: ShareLinkId,
    /// UUID of the session that it shows.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// What it shows: `tool_result` (the result of a run of a tool, and its input without private values) or `session`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::ShareAudience))]
    pub audience: Audience,
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
    /// Time it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub revoked_at: Option<Timestamp>,
}

/// `POST /api/sessions/{id}/share-links`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateShareLink {
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

impl Default for CreateShareLink {
    fn default() -> Self {
        Self { days: DAYS_DEFAULT }
    }
}

/// The answer to `POST /api/sessions/{id}/share-links`. The address contains the secret, which is not shown again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreatedShareLink {
    /// What a list shows of it.
    pub link: ShareLink,
    /// Address to give to people.
    #[cfg_attr(feature = "openapi", schema(max_length = 2048))]
    pub url: String,
}

/// `GET /api/sessions/{id}/share-links`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShareLinks {
    /// The newest links, whether they work or not, newest first.
    pub links: Vec<ShareLink>,
}
