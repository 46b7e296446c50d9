//! The same done to several sessions.

use domain::{
    id::{SessionId, UserId},
    session::BulkVerb,
};
use serde::{Deserialize, Serialize};

/// Does the same to several sessions. Names either sessions or a search line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BulkSessions {
    /// `run_again`, `cancel`, `acknowledge`, `tag`, `untag`, `assign`, `unassign` or `assign_back`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::BulkVerb))]
    pub verb: BulkVerb,
    /// The tag, with the verbs `tag` and `untag` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Tag>))]
    pub tag: Option<String>,
    /// With `assign`, who the sessions are assigned to: an active member of the workspace. With `assign_back`, who the
    /// sessions are assigned to now; null for no one. Only with these verbs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub assignee_id: Option<UserId>,
    /// These sessions, 1 to 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<crate::schema::Id>>, min_items = 1, max_items = 500))]
    pub session_ids: Option<Vec<SessionId>>,
    /// The newest 500 sessions that this search line finds. A line without a condition and without words is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::SearchLine>))]
    pub q: Option<String>,
    /// Time zone of the days in `q`, an IANA name; UTC without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::TimeZone>))]
    pub timezone: Option<String>,
    /// Only says what would happen.
    #[serde(default)]
    pub dry_run: bool,
}

/// What happened to several sessions, or would happen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct BulkSessionsResult {
    /// One entry for each session, in the order of the request, or newest first.
    pub sessions: Vec<BulkSessionResult>,
    /// Sessions to which it would be done. 0 unless it is a dry run.
    pub ready: u64,
    /// Sessions to which it was done.
    pub done: u64,
    /// Sessions to which it had been done before.
    pub already: u64,
    /// Sessions to which it cannot be done.
    pub refused: u64,
    /// Whether the search line finds more sessions.
    pub has_more: bool,
}

/// One of these sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct BulkSessionResult {
    /// Id as it was sent, or of a session that the search found.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Its title; null if the caller cannot see it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Title>))]
    pub title: Option<String>,
    /// `ready`, `done`, `already` or `refused`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::BulkOutcome))]
    pub outcome: String,
    /// The session that runs it again.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub new_session_id: Option<SessionId>,
    /// Why it cannot be done.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub reason: Option<String>,
}
