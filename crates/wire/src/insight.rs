//! Insights: figures about sessions, decisions and answers over a window of days.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

/// Figures about the sessions of a number of days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Insights {
    /// The first day, UTC.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Date))]
    pub first: NaiveDate,
    /// The last day, UTC.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Date))]
    pub last: NaiveDate,
    /// Whether there was more than is counted: then the figures are of the newest sessions and gates.
    pub is_cut: bool,
    /// Turns that could not be captured as training data when it was tried, since this server started. They are tried
    /// again.
    pub capture_failures: u64,
    /// Why ratings are missing from the figures; null if they are complete. Sessions whose ratings could not be read
    /// count neither as rated nor as unrated.
    pub ratings_missing: Option<RatingsMissing>,
    /// Of the whole window.
    pub total: Figures,
    /// By day, in order, none left out.
    pub days: Vec<DayFigures>,
    /// By agent, most sessions first.
    pub agents: Vec<PartFigures>,
    /// By action, most sessions first.
    pub actions: Vec<PartFigures>,
    /// Runs by tool, most runs first. They are not part of the other figures, which are of sessions of agents.
    #[serde(default)]
    pub tools: Vec<ToolFigures>,
    /// What the memory writers of agents used, by agent. It is not part of the other figures.
    #[serde(default)]
    pub memory_writers: Vec<WriterFigures>,
}

/// What the memory writer of an agent used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct WriterFigures {
    /// Slug of the agent.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub agent: String,
    /// Number of runs.
    pub runs: u64,
    /// Of these, those that did not succeed.
    pub failed: u64,
    /// Tokens read, of the runs whose tokens the model's service reported; null if there is none.
    pub input_tokens: Option<u64>,
    /// Tokens written, likewise.
    pub output_tokens: Option<u64>,
    /// Dollars; null if no run knows its cost.
    pub cost_usd: Option<f64>,
}

/// What is counted of the runs of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolFigures {
    /// Slug of the tool.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Slug))]
    pub slug: String,
    /// Runs that ended.
    pub runs: u64,
    /// Of these, those that completed.
    pub completed: u64,
    /// Of these, those that failed or expired.
    pub failed: u64,
    /// Share of failed among completed and failed runs, 0 to 1; null without one.
    pub failure_rate: Option<f64>,
    /// Median of the times from start to end of completed runs, milliseconds, with the time they waited for an
    /// approval; null without one.
    pub p50_ms: Option<u64>,
    /// 95th percentile of these times, milliseconds; null without one.
    pub p95_ms: Option<u64>,
    /// Dollars; null if no run reported a cost.
    pub cost_usd: Option<f64>,
    /// Runs that reported a cost.
    pub priced: u64,
}

/// Why ratings could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum RatingsMissing {
    /// Their database is locked, or cannot be reached.
    Unavailable,
    /// Their database is damaged, or cannot be opened.
    Unreadable,
}

/// Figures about one day (UTC).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DayFigures {
    /// The day, UTC.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = Date))]
    pub day: NaiveDate,
    /// What is counted of it.
    pub figures: Figures,
}

/// The figures of an agent or an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PartFigures {
    /// Its slug; null for sessions without one.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Slug>))]
    pub slug: Option<String>,
    /// What is counted of it.
    pub figures: Figures,
}

/// What is counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Agent sessions that ended.
    pub sessions: u64,
    /// Of these, those that completed.
    pub completed: u64,
    /// Of these, those that failed or expired.
    pub failed: u64,
    /// Ratings "it helped".
    pub positive: u64,
    /// Ratings "it did not".
    pub negative: u64,
    /// Ratings that were skipped.
    pub skipped: u64,
    /// Sessions without a rating.
    pub unrated: u64,
    /// Share of positive among positive and negative ratings, 0 to 1; null without one.
    pub helpful: Option<f64>,
    /// Answers that the next message shows to have helped.
    pub accepted: u64,
    /// Answers that the next message shows not to have helped.
    pub rejected: u64,
    /// Answers whose next message shows neither.
    pub neutral: u64,
    /// Answers without a next message. They are never counted as rejected.
    pub unknown: u64,
    /// Gates approved as staged.
    pub approved: u64,
    /// Gates approved with changes.
    pub edited: u64,
    /// Gates denied.
    pub denied: u64,
    /// Gates answered.
    pub answered: u64,
    /// Gates that expired without a decision.
    pub expired: u64,
    /// Median of the time that agents waited for a decision, seconds; null without a decision.
    pub wait_median_seconds: Option<u64>,
    /// Its 90th percentile, seconds; null without a decision.
    pub wait_p90_seconds: Option<u64>,
    /// Time that agents waited for decisions, all together, seconds.
    pub wait_total_seconds: u64,
    /// Tokens read by the sessions that reported them.
    pub input_tokens: u64,
    /// Tokens written by the sessions that reported them.
    pub output_tokens: u64,
    /// Sessions that reported tokens.
    #[serde(default)]
    pub metered: u64,
    /// Dollars; null if no session reported a cost.
    pub cost_usd: Option<f64>,
    /// Sessions that reported a cost.
    pub priced: u64,
}
