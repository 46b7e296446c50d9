//! Groups of people.

use domain::Timestamp;
use serde::{Deserialize, Serialize};

/// People who may be asked to review together.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// Id.
    pub id: String,
    /// What reviewers are named by (`group:slug`); never changes.
    pub slug: String,
    /// Display name.
    pub name: String,
    /// Who is in it, by address.
    pub members: Vec<GroupMember>,
    /// Who made it: `user:…`, `token:…`, `agent:…` or `system`.
    pub created_by: String,
    /// When it was made.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When its name or members last changed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// Somebody in a group.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct GroupMember {
    /// User id.
    pub id: String,
    /// Sign-in address.
    pub email: String,
}

/// `GET /api/groups`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Groups {
    /// All groups of the workspace, by name.
    pub groups: Vec<Group>,
}

/// `POST /api/groups`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateGroup {
    /// 1 to 200 characters.
    pub name: String,
    /// Made from the name when absent.
    pub slug: Option<String>,
    /// User ids of members of the workspace, at most 200.
    #[serde(default)]
    pub members: Vec<String>,
}

/// `PATCH /api/groups/{id}`: members come and go one by one, so that two changes at once undo nothing of each other.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateGroup {
    /// 1 to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// User ids of members of the workspace who come in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_members: Vec<String>,
    /// User ids of who goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_members: Vec<String>,
}
