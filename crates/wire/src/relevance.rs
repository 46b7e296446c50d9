//! The memories that the prompts of a session had, and their ratings.

use crate::Json;
use domain::{
    Timestamp,
    relevance::{Kind, Refusal},
};
use serde::{Deserialize, Serialize};

/// `POST /api/sessions/{id}/memory-feedback`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RateMemories {
    /// The fencing token of the worker that runs the session; absent for other callers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// An object of ids of memories with scores from -1 (harmful) to 1 (directly used). At most 100 are read. A member
    /// that is no rating is reported and changes nothing.
    #[serde(rename = "memory_feedback")]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub memory_feedback: Json,
}

/// The answer to `POST /api/sessions/{id}/memory-feedback`: the result of each rating.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RatedMemories {
    /// Ratings that count.
    pub accepted: Vec<MemoryRating>,
    /// Ratings that do not, with the reasons.
    pub refused: Vec<RefusedMemoryRating>,
    /// Number of ratings that were not read, because there were more than 100.
    pub not_read: u64,
}

/// A rating that counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemoryRating {
    /// Id of the memory.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryId))]
    pub id: String,
    /// Sequence of the event with the memories that it is among: the newest one.
    pub turn: u64,
    /// From -1 to 1.
    pub score: f64,
}

/// A rating that does not count.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RefusedMemoryRating {
    /// The id as it was sent, at most 64 characters.
    #[cfg_attr(feature = "openapi", schema(max_length = 64))]
    pub id: String,
    /// Why it does not count: `not_a_number`, `out_of_range`, `duplicate` (a later one of the same object counts),
    /// `not_injected` (the session was not given this memory) or `disabled` (the settings turn ratings by agents off).
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryRatingRefusal))]
    pub reason: Refusal,
}

/// A memory that was considered for a prompt.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionMemory {
    /// Id of the memory, as the agent sees it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryId))]
    pub id: String,
    /// Sequence of the event that records the memories of the prompt.
    pub turn: u64,
    /// Version of its document.
    pub memory_version: u64,
    /// Folder of its document: `people`, `topics`, `sessions` or `other`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::MemoryKind))]
    pub kind: Kind,
    /// Whether the agent was given it.
    pub injected: bool,
    /// Rank among the candidates, from 1.
    pub rank: u32,
    /// Place in the agent's context, from 1; null if it was not given.
    pub slot: Option<u32>,
    /// Whether it was withheld at random.
    pub holdout: bool,
    /// Probability of what happened to it, given or withheld, from 0 to 1.
    pub propensity: f64,
    /// Name of the rule by which the candidates were ranked.
    #[cfg_attr(feature = "openapi", schema(max_length = 100))]
    pub ranker: String,
    /// Relevance of its text to the prompt, in a scale of its own; not below 0.
    pub bm25: f64,
    /// Cosine of the vectors of prompt and text, from -1 to 1; null if they were not near or not compared.
    pub similarity: Option<f64>,
    /// Age of the version, days.
    pub recency_d: f64,
    /// Importance of its document, from 0 to 1.
    pub importance: f64,
    /// Uses in the 30 days before the prompt.
    #[serde(rename = "uses30d")]
    pub uses_30d: u32,
    /// Whether it is about the person who speaks.
    pub same_person: bool,
    /// Whether it comes from the channel on which they speak.
    pub same_channel: bool,
    /// Estimated tokens.
    pub tokens: u32,
    /// Uses in the answer or in the arguments of calls of the turn. Counted after the turn ends.
    pub use_hits: u32,
    /// Mean of all ratings of the memory in this session, from -1 to 1; null if there are none.
    #[serde(rename = "agent_relevance_score")]
    pub agent_relevance_score: Option<f64>,
    /// Number of these ratings.
    #[serde(rename = "agent_feedback_count")]
    pub agent_feedback_count: u32,
    /// Time of the prompt.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
}
