//! Groups of people.

use domain::Timestamp;
use domain::id::{GroupId, UserId};
use serde::{Deserialize, Serialize};

/// People who may be asked to review together.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// UUID of the group.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: GroupId,
    /// What reviewers are named by (`group:slug`); never changes.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub slug: String,
    /// Display name.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// Who is in it, by address.
    pub members: Vec<GroupMember>,
    /// Creator: `user:…`, `token:…`, `agent:…` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub created_by: String,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// When its name or members last changed.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub updated_at: Timestamp,
}

/// A person in a group.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct GroupMember {
    /// User id.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: UserId,
    /// Sign-in address.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::EmailAddress))]
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
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
    /// Default: derived from the name.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub slug: Option<String>,
    /// User ids of members of the workspace, at most 200.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Id>, max_items = 200))]
    pub members: Vec<UserId>,
}

/// `PATCH /api/groups/{id}`: members come and go one by one, so that two changes at once undo nothing of each other.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateGroup {
    /// 1 to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Name>))]
    pub name: Option<String>,
    /// User ids of members of the workspace who come in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Id>, max_items = 200))]
    pub add_members: Vec<UserId>,
    /// User ids of who goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Id>))]
    pub remove_members: Vec<UserId>,
}
