//! Interactions: prompts with their answers, feedback and outcomes.

use domain::{
    Timestamp,
    id::{ActionId, InteractionId, SessionId},
    interaction::{Feedback, Source},
    message::Role,
    outcome::Outcome,
};
use serde::{Deserialize, Serialize};

/// A prompt and its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Interaction {
    /// Id of the interaction, derived from the sequence at which the answer ends.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub id: InteractionId,
    /// The session it is part of.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::Id))]
    pub session_id: SessionId,
    /// The action that was run.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Id>))]
    pub action_id: Option<ActionId>,
    /// The agent that answered.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::AgentName>))]
    pub agent_slug: Option<String>,
    /// When the answer was complete.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub recorded_at: Timestamp,
    /// The conversation up to the answer, the prompt last.
    pub prompt: Vec<PromptMessage>,
    /// The answer, as the agent gave it.
    pub response: String,
    /// The latest feedback; null if there is none.
    pub feedback: Option<AnswerFeedback>,
    /// `accepted`, `rejected` or `neutral`, as inferred from the next message; null if there is none.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Outcome>))]
    pub outcome: Option<Outcome>,
}

/// One message before an answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptMessage {
    /// `user`, `assistant` or `system`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::PromptRole))]
    pub role: Role,
    /// Its text.
    pub content: String,
}

/// Feedback of a person or a program on an answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AnswerFeedback {
    /// `positive`, `negative` or `neutral`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnswerLabel))]
    pub feedback: Feedback,
    /// `manual`, `outcome_tracker`, `reviewer` or `memory_writer`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnswerSource))]
    pub source: Source,
    /// Whether a person changed the answer before it was used.
    pub was_edited: bool,
    /// The changed answer, if it is known.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Edited>))]
    pub edited: Option<String>,
    /// When it was given.
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub recorded_at: Timestamp,
}

/// `POST /api/interactions/{id}/feedback`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MarkAnswer {
    /// `positive`, `negative` or `neutral`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schema::AnswerLabel))]
    pub feedback: Feedback,
    /// Whether the answer was changed before it was used. An answer that was changed into something unknown is neither
    /// good nor bad, and leaves no training data.
    #[serde(default)]
    pub was_edited: bool,
    /// What it was changed to, at most 100,000 characters; `wasEdited` goes without saying then.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::schema::Edited>))]
    pub edited: Option<String>,
}

/// What was deleted of the training data of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ForgottenInteractions {
    /// Number of prompts with answers.
    pub interactions: u64,
    /// UUIDs of the exports of pages whose files can have them, newest first. The files are not changed.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<crate::schema::Id>))]
    pub exports: Vec<uuid::Uuid>,
    /// What was exported since the first of them, who did it and when, newest first: also by `shiftbook export`. At
    /// most 100.
    #[serde(default)]
    pub kept: Vec<String>,
    /// Whether the server's files of training data have lost the lines too. If not, the next run of retention removes
    /// them.
    pub files_rewritten: bool,
}
