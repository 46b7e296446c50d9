//! The memory writers of agents, and their runs.

use domain::{
    Timestamp,
    id::SessionId,
    memory_writer::run::{RunCause, RunState, RunWaitsFor},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The answer to a request to run an agent's memory writer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryFlush {
    /// Whether a server with a writer for this agent is at work. If not, the request waits for one.
    pub has_writer: bool,
    /// What the run waits for: `writer`, or the budget of the day: `runs` or `tokens`. Absent if it begins at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::MemoryRunWaitsFor>))]
    pub waits_for: Option<RunWaitsFor>,
    /// The same as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub reason: Option<String>,
    /// Time at which the budget begins anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub waits_until: Option<Timestamp>,
    /// Number of sessions that the writer had not read. Only with `since`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_sessions: Option<u64>,
}

/// The newest runs of an agent's memory writer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryRuns {
    /// At most 50 runs, newest first.
    pub items: Vec<MemoryRun>,
}

/// One run of an agent's memory writer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryRun {
    /// Id of the run.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: Uuid,
    /// What started it: `flush`, `end`, `turns` or `idle`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryRunCause))]
    pub cause: RunCause,
    /// `succeeded`, `failed` (it is tried again) or `parked` (it waits for a person).
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryRunState))]
    pub state: RunState,
    /// What it covers.
    pub window: Vec<MemoryRunRange>,
    /// Number of turns that it covers.
    pub turns: u32,
    /// Number of changes that it proposed.
    pub proposals: u32,
    /// Number of changes that it wrote without a review.
    pub written: u32,
    /// Why it failed. Of a run that succeeded: what of the model's answer was left out, and why.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Reason>))]
    pub error: Option<String>,
    /// Name of the model.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Reason))]
    pub model: String,
    /// Input tokens of all its requests; null if the model's service did not report those of every answer.
    pub input_tokens: Option<u64>,
    /// Output tokens of all its requests, likewise.
    pub output_tokens: Option<u64>,
    /// Cost in US dollars, if the tokens and the model's prices are known.
    pub cost_usd: Option<f64>,
    /// When it began.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub started_at: Timestamp,
    /// Time at which its outcome was recorded.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub ended_at: Timestamp,
}

/// The events of one session that a run covers: above `after` and up to `upto`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryRunRange {
    /// UUID of the session.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session: SessionId,
    /// The watermark before the run.
    pub after: u64,
    /// The watermark after the run.
    pub upto: u64,
}
