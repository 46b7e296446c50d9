//! Access to a workspace: members, invitations, links, and a person's own sign-ins.

use domain::{
    Timestamp,
    id::{BrowserSessionId, LinkId, UserId},
    member::MemberStatus,
    role::Role,
};
use serde::{Deserialize, Serialize};

/// `GET /api/members`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Members {
    /// Sorted by address. Removed members are not listed.
    pub members: Vec<Member>,
}

/// A person with a role in the workspace.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// User id.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: UserId,
    /// Sign-in address.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::EmailAddress))]
    pub email: String,
    /// Display name that the person chose; empty until they choose one.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::NamePart))]
    pub name: String,
    /// Role in this workspace.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Role))]
    pub role: Role,
    /// `active`, `deactivated` or `removed`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemberStatus))]
    pub status: MemberStatus,
    /// When they joined.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
}

impl Member {
    /// What others call them: their name, or their address.
    pub fn display_name(&self) -> &str {
        if self.name.is_empty() { &self.email } else { &self.name }
    }
}

/// `PATCH /api/members/{id}`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateMember {
    /// admin, operator, reviewer or member.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Role>))]
    pub role: Option<Role>,
    /// `active` or `deactivated`.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::MemberAccess>))]
    pub status: Option<MemberStatus>,
}

/// `POST /api/invitations`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateInvitation {
    /// E-mail address of the person. The link works for this address only.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::EmailAddress))]
    pub email: String,
    /// Role that the person gets.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Role))]
    pub role: Role,
}

/// An invitation that has not been accepted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    /// UUID of the invitation.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: LinkId,
    /// E-mail address of the invited person.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::EmailAddress))]
    pub email: String,
    /// Role that the person gets.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Role))]
    pub role: Role,
    /// Time of creation.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time at which the link stops working.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub expires_at: Timestamp,
}

/// `GET /api/invitations`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Invitations {
    /// Newest first.
    pub invitations: Vec<Invitation>,
}

/// The answer to `POST /api/invitations`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreatedInvitation {
    /// The new invitation, which has not been accepted.
    pub invitation: Invitation,
    /// Link for the invited person. It works once, and is not shown again.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Link))]
    pub url: String,
}

/// The answer to `POST /api/members/{id}/reset-link`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResetLink {
    /// Link for the member. It works once, and is not shown again.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Link))]
    pub url: String,
    /// Time at which the link stops working.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub expires_at: Timestamp,
}

/// `GET /api/sign-ins`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignIns {
    /// Last used first.
    pub sign_ins: Vec<SignIn>,
}

/// A browser that is signed in as the caller.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignIn {
    /// UUID of the sign-in.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: BrowserSessionId,
    /// Workspace that the browser shows.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::NamePart))]
    pub workspace: String,
    /// Browser and system, such as `Firefox on Linux`; empty if they are not known.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Browser))]
    pub browser: String,
    /// Time of the sign-in.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub created_at: Timestamp,
    /// Time of the last use, to the minute.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub last_seen_at: Timestamp,
    /// Whether this browser makes the request.
    pub is_current: bool,
}
