//! Failures: records of sessions that ended badly.

use domain::{
    Timestamp,
    id::{ActionId, SessionId},
    session::Status,
};
use serde::{Deserialize, Serialize};

/// What is to be known, and could be done, about a session that ended failed or expired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// Session that failed or expired.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Title of the session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Title))]
    pub title: String,
    /// failed or expired.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::SessionStatus))]
    pub status: Status,
    /// Agent that the session was queued for.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::AgentName>))]
    pub agent_slug: Option<String>,
    /// The action it executed.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub action_id: Option<ActionId>,
    /// For machines: `lease_exhausted`, `timed_out`, `output_invalid` and others, or the worker's own.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub code: String,
    /// What went wrong.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Reason))]
    pub message: String,
    /// A possible remedy.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Reason))]
    pub remediation: String,
    /// When it ended.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// Who took note of it: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Actor>))]
    pub acknowledged_by: Option<String>,
    /// When someone acknowledged it; null while it is open.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub acknowledged_at: Option<Timestamp>,
}
