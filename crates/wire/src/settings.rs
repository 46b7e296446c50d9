//! Tokens and settings of a workspace.

use domain::{
    Timestamp,
    role::{Role, TokenScope},
};
use serde::{Deserialize, Serialize};

/// An API token without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Token {
    /// Id.
    pub id: String,
    /// Name it was given.
    pub name: String,
    /// First characters of the secret, to recognise it by.
    pub hint: String,
    /// What it may do.
    pub role: Role,
    /// Narrowing.
    pub scope: Option<TokenScope>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last seen, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When it stopped working.
    pub revoked_at: Option<Timestamp>,
    /// The person whose own it is: it may read what they did.
    pub user_id: Option<String>,
}

/// Settings of the workspace.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    /// For how long a decision's effect is held back so that it can be undone, seconds.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 60))]
    pub undo_seconds: u32,
}

/// `PATCH /api/workspace`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateWorkspace {
    /// 0 to 60; 0: decisions take effect at once.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 60))]
    pub undo_seconds: u32,
}
