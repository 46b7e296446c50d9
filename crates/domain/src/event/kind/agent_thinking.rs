//! `agent.thinking`: the reasoning of an agent.

use super::payload::{Payload, text_content, text_of};

/// A piece of reasoning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentThinking {
    /// The reasoning, as Markdown.
    pub text: Option<String>,
}

impl Payload for AgentThinking {
    fn read(content: &str, _metadata: &str) -> Option<Self> {
        Some(Self { text: text_of(content) })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }
}
