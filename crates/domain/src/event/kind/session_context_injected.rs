//! `session.context_injected`: the server gave an agent more than its input.

use super::payload::{Payload, about, json_text, read_fields, text_content, text_of};
use crate::id::{RequestAnswerId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A block of text for the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextInjected {
    /// The block, as the agent gets it.
    pub text: String,
    /// Where it comes from.
    pub context: Context,
}

/// Where a block comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "context", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Context {
    /// Answers of people to requests that did not block the session.
    Answers {
        /// Those in the block.
        answer_ids: Vec<RequestAnswerId>,
        /// Attempt that got them.
        attempt: u32,
    },
    /// What the session's person did before.
    RecentActivity {
        /// The working session that records it.
        session_id: SessionId,
    },
    /// Memories.
    Memory {
        /// Name of the rule by which they were ranked.
        ranker: String,
        /// What was ranked, with scores, and which of it is in the block.
        candidates: Value,
    },
}

impl Payload for ContextInjected {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { text: text_of(content)?, context: read_fields(metadata)? })
    }

    fn content(&self) -> String {
        text_content(Some(&self.text))
    }

    fn metadata(&self) -> String {
        json_text(&self.context)
    }

    fn sentence(&self) -> Option<String> {
        Some(about("Context added", Some(&self.text)))
    }
}
