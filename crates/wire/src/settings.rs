//! Tokens and settings of a workspace.

use domain::{
    Timestamp,
    id::{TokenId, UserId},
    role::{Role, TokenScope},
};
use serde::{Deserialize, Serialize};

/// An API token without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// UUID of the token.
    pub id: TokenId,
    /// Name of the token, for people.
    pub name: String,
    /// First characters of the secret, to recognise the token.
    pub hint: String,
    /// Role that the token has.
    pub role: Role,
    /// Limits the token to a part of the API; `None` if its role is the only limit.
    pub scope: Option<TokenScope>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last use, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Time at which the token stopped working.
    pub revoked_at: Option<Timestamp>,
    /// The person whose own token it is. It may read what the person did.
    pub user_id: Option<UserId>,
}

/// Settings of the workspace.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    /// Seconds for which a decision can be undone. It takes effect after that.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 60))]
    pub undo_seconds: u32,
}

/// `PATCH /api/workspace`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateWorkspace {
    /// 0 to 60 seconds; with 0 decisions take effect at once.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 60))]
    pub undo_seconds: u32,
}
