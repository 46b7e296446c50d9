//! The lines of the three streams. Fields are only ever added, and what was added may be missing in old lines.

use domain::{Timestamp, outcome::Inferred};
use serde::{Deserialize, Serialize};

pub use domain::interaction::{Feedback, Source};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions.
    System,
    /// The person.
    User,
    /// The agent.
    Assistant,
}

/// One message before the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// Its text.
    pub content: String,
}

/// A prompt and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionRecord {
    /// Id; the same prompt and answer have the same id, however often they are captured.
    pub id: String,
    /// When the answer was complete, RFC 3339 in UTC.
    pub timestamp: Timestamp,
    /// The workspace.
    pub tenant_id: String,
    /// The session it is part of.
    pub session_id: String,
    /// The action that was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_id: Option<String>,
    /// The agent that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The person who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The conversation up to the answer, the prompt last. Never empty.
    pub prompt: Vec<Message>,
    /// The answer.
    pub response: String,
    /// Feedback that came before the record was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_feedback: Option<Feedback>,
    /// Somebody changed the answer before it was used.
    #[serde(default)]
    pub was_edited: bool,
    /// What they changed it to, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// Where the feedback came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_source: Option<Source>,
    /// When it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback_at: Option<Timestamp>,
}

impl InteractionRecord {
    /// The feedback that the record itself carries, as a line of the sidecar would. The record names the workspace.
    pub fn own_feedback(&self) -> Option<FeedbackRecord> {
        Some(FeedbackRecord {
            record_id: self.id.clone(),
            tenant_id: None,
            feedback: self.user_feedback?,
            was_edited: self.was_edited,
            edited: self.edited.clone(),
            timestamp: self.feedback_at.unwrap_or(self.timestamp),
            source: self.feedback_source.unwrap_or(Source::Manual),
        })
    }
}

/// Feedback on a record that was written before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedbackRecord {
    /// The record it is about. There need be none: such feedback is ignored.
    pub record_id: String,
    /// The workspace. Lines that were written before it was noted have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    /// What is thought of it.
    pub feedback: Feedback,
    /// Somebody changed the answer before it was used.
    #[serde(default)]
    pub was_edited: bool,
    /// What they changed it to, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    /// When, RFC 3339 in UTC. The latest counts; of two at the same instant the one that was written later.
    pub timestamp: Timestamp,
    /// Where it comes from.
    pub source: Source,
}

impl FeedbackRecord {
    /// Whether it may be about a record of this workspace: it says so, or it says nothing.
    pub fn may_be_of(&self, tenant_id: &str) -> bool {
        self.tenant_id.as_deref().is_none_or(|of| of == tenant_id)
    }
}

/// What was inferred about a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// The record it is about.
    pub record_id: String,
    /// The session it is part of.
    pub session_id: String,
    /// When it was inferred, RFC 3339 in UTC.
    pub timestamp: Timestamp,
    /// What, and why.
    #[serde(flatten)]
    pub inferred: Inferred,
}
