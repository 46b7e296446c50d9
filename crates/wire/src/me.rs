//! The caller: person or token, workspace and role.

use domain::id::{TenantId, TokenId, UserId};
use domain::role::{Role, TokenScope};
use serde::{Deserialize, Serialize};

/// `GET /api/me`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Me {
    /// The workspace.
    pub tenant: Tenant,
    /// The person, if a person or their browser calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<User>,
    /// The token, if a token calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenName>,
    /// admin, operator, reviewer or member.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Role))]
    pub role: Role,
    /// `worker` where the token is narrowed to a worker's routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::TokenScope>))]
    pub scope: Option<TokenScope>,
}

/// A workspace.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// UUID of the workspace.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: TenantId,
    /// URL name.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub slug: String,
    /// Display name.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
}

/// A person.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// UUID of the person.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: UserId,
    /// Sign-in address.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::EmailAddress))]
    pub email: String,
    /// What they call themselves; absent until they say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::NamePart))]
    pub name: String,
}

/// Name and id of a token, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenName {
    /// UUID of the token.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: TokenId,
    /// Name it was given.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Name))]
    pub name: String,
}
