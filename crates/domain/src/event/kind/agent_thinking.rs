//! `agent.thinking`: the reasoning of an agent.

use super::payload::{Payload, Writer, text_content, text_of};
use crate::event::{EventRole, Group};

/// A piece of reasoning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentThinking {
    /// The reasoning, as Markdown.
    pub text: Option<String>,
}

impl Payload for AgentThinking {
    const WRITER: Writer = Writer::Worker;
    const ROLE: EventRole = EventRole::Agent;
    const GROUP: Group = Group::Thinking;

    fn read(content: &str, _metadata: &str) -> Option<Self> {
        Some(Self { text: text_of(content) })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        "{}".into()
    }
}
