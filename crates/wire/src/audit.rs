//! The audit list: acts of administrators and sign-ins of a workspace.

use crate::Json;
use domain::{
    Timestamp,
    audit::{Kind, TargetKind},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// One act. It names people and things by their ids, and has no names and no texts of people.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// Number of the entry in its workspace: 1-based, without gaps, in commit order.
    pub sequence: u64,
    /// When it was done.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// What was done.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AuditKind))]
    pub kind: Kind,
    /// Who did it; null for refused and blocked sign-ins, because no one has proven who they are.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Actor>))]
    pub actor: Option<String>,
    /// What it was done to; null if the workspace itself.
    pub target: Option<AuditTarget>,
    /// What else is known, such as `role`, `from` and `to`; `address` is where a refused sign-in came from. A
    /// blocked one has the number of wrong passwords in `attempts` and how long it lasts in `seconds`.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub detail: Json,
    /// Digest of this entry and all before it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Digest))]
    pub digest: String,
}

/// What an act was done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditTarget {
    /// What kind of thing it is.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AuditTargetKind))]
    pub kind: TargetKind,
    /// UUID of that thing.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: Uuid,
}
