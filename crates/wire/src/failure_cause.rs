//! Causes of failures, and requests about them.

use crate::failure::Failure;
use domain::{
    Timestamp,
    failure::cause::{CauseState, Window},
    id::{CauseId, SessionId},
};
use serde::{Deserialize, Serialize};

/// Failures that have the same code, tool, step and normalised message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FailureCause {
    /// Id of the cause. It changes when the rule that groups failures does.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: CauseId,
    /// Error code of its failures.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub code: String,
    /// Tool whose call failed, if the failures came from one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub tool: Option<String>,
    /// Step that had started and not completed.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub step: Option<String>,
    /// What went wrong, with placeholders such as `‹number›` for what differs between two failures.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Reason))]
    pub message: String,
    /// A possible remedy.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Reason))]
    pub remediation: String,
    /// Whether people must look at it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::CauseState))]
    pub state: CauseState,
    /// When it opened again by itself: a snooze ended, or it came back after it was resolved.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub reopened_at: Option<Timestamp>,
    /// End of the snooze.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub snoozed_until: Option<Timestamp>,
    /// Who decided about it last: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Actor>))]
    pub decided_by: Option<String>,
    /// When that was.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub decided_at: Option<Timestamp>,
    /// Failures in the time range.
    pub failures: u64,
    /// Failures in each eighth of the time range.
    pub trend: Vec<u64>,
    /// The three agents with the most failures in the time range.
    pub agents: Vec<CauseAgent>,
    /// Number of further agents.
    pub more_agents: u64,
    /// The first failure, whenever it was.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub first_at: Option<Timestamp>,
    /// The last failure, whenever it was.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub last_at: Option<Timestamp>,
}

/// An agent and its failures of a cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CauseAgent {
    /// The agent; null for work that names none.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::AgentName>))]
    pub agent_slug: Option<String>,
    /// Its failures in the time range.
    pub failures: u64,
}

/// A page of causes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FailureCauses {
    /// Those with the newest failure first.
    pub items: Vec<FailureCause>,
    /// Opaque; pass as `cursor` for the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Cursor>))]
    pub next_cursor: Option<String>,
    /// Name of the time range; null if its ends were given.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::FailureWindow>))]
    pub window: Option<Window>,
    /// Beginning of the time range.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub since: Timestamp,
    /// End of the time range.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub until: Timestamp,
    /// Whether every failure is grouped. After an upgrade it is false for some time, and counts are too small.
    pub is_complete: bool,
    /// How much of that is done, in percent.
    pub grouped_percent: u32,
}

/// A failure of a cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CausedFailure {
    /// The failure, with its session.
    pub failure: Failure,
    /// The newest session that runs it again.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub retried_by: Option<SessionId>,
}

/// Sets a cause aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SnoozeCause {
    /// When it opens again: in the future, within 366 days.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub until: Timestamp,
}

/// Runs failed sessions of a cause again. Names either sessions, or a time range.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunCauseAgain {
    /// These sessions, 1 to 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<crate::schema::Id>>, min_items = 1, max_items = 200))]
    pub session_ids: Option<Vec<SessionId>>,
    /// Those that failed in this range. A request without sessions and a range is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::FailureWindow>))]
    pub window: Option<Window>,
    /// Those that failed since then, in place of a named range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub since: Option<Timestamp>,
    /// Those that failed before then. Only with `since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub until: Option<Timestamp>,
    /// At most so many of the range, oldest first: 1 to 200, which is the default. A repeat goes on with the next ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 200))]
    pub limit: Option<u32>,
    /// Only says what would happen.
    #[serde(default)]
    pub preview: bool,
}

/// What happened to sessions that were to be run again, or would happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CauseRunAgain {
    /// One entry for each session.
    pub sessions: Vec<SessionRunAgain>,
    /// Sessions that would be run again. 0 unless it is a preview.
    pub ready: u64,
    /// Sessions that run again.
    pub started: u64,
    /// Sessions that were run again before.
    pub already: u64,
    /// Sessions that cannot be run again.
    pub refused: u64,
    /// Whether the time range has more sessions.
    pub has_more: bool,
}

/// One of these sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionRunAgain {
    /// The session that failed.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// Its title; null if the caller cannot see it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Title>))]
    pub title: Option<String>,
    /// `ready`, `started`, `already` or `refused`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::RunAgainOutcome))]
    pub outcome: String,
    /// The session that runs it again.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub new_session_id: Option<SessionId>,
    /// Why it cannot be run again.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub reason: Option<String>,
}
