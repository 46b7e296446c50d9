//! Suggestions for canvases, and decisions about them.

use super::canvas::PatchAnswer;
use crate::Json;
use domain::{Timestamp, canvas::SuggestionState};
use serde::{Deserialize, Serialize};

/// A patch that an editor accepts or declines.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasSuggestion {
    /// Id that its author gave it.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub op_id: String,
    /// Version that its author had seen.
    pub base: u64,
    /// Operations, in order.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::CanvasOperation>))]
    pub ops: Json,
    /// Its author: `user:…` or `token:…`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Actor))]
    pub by: String,
    /// Time it was made.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub at: Timestamp,
    /// Whether it waits, was accepted, or was declined.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::CanvasSuggestionState))]
    pub state: SuggestionState,
    /// The editor who decided. Absent while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Actor>))]
    pub decided_by: Option<String>,
    /// Time of the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub decided_at: Option<Timestamp>,
    /// What the editor wrote to the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 4000))]
    pub reason: Option<String>,
    /// SHA-256 (hex) of what it would change now: what it writes, and the present values. Absent if it does not wait,
    /// and for callers who cannot decide about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ShownDigest>))]
    pub digest: Option<String>,
}

/// `GET /api/canvases/{id}/suggestions`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CanvasSuggestions {
    /// Those in the asked state, oldest first.
    pub suggestions: Vec<CanvasSuggestion>,
}

/// `POST /api/canvases/{id}/suggestions`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecideSuggestion {
    /// Id of the suggestion.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub op_id: String,
    /// Whether it is applied to the document as it is now, or declined.
    pub accept: bool,
    /// For the author, at most 4,000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 4000))]
    pub reason: Option<String>,
    /// `digest` of the suggestion that the editor saw. If it would change something else now, it is not accepted.
    /// Without it the suggestion is accepted whatever it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::ShownDigest>))]
    pub digest: Option<String>,
}

/// `POST /api/canvases/{id}/suggestions/decisions`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecideSuggestions {
    /// 1 to 200 decisions, each with its own result.
    #[cfg_attr(feature = "openapi", schema(min_items = 1, max_items = 200))]
    pub decisions: Vec<DecideSuggestion>,
}

/// The answer to a batch of decisions about suggestions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecidedSuggestions {
    /// One result for each decision, in the order of the request.
    pub results: Vec<DecidedSuggestion>,
}

/// Result of one decision of a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DecidedSuggestion {
    /// Id of the suggestion, as it was sent.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub op_id: String,
    /// As of a single decision. Absent if it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<PatchAnswer>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<crate::Problem>,
}

/// `POST /api/canvases/{id}/suggestions/undo`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UndoSuggestionDecision {
    /// Id of the suggestion.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Key))]
    pub op_id: String,
}
