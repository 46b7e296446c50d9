//! `agent.message`: what an agent said.

use super::payload::{Members, Payload, text_content, text_of};
use serde_json::{Map, Value};

/// A message of an agent, or one part of a long one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentMessage {
    /// What the agent said, as Markdown.
    pub text: Option<String>,
    /// Number of the part, from 1; `None` for a message of one event.
    pub part: Option<u64>,
    /// Whether it is the last part; `None` for a message of one event.
    pub last_part: Option<bool>,
}

impl AgentMessage {
    /// Whether the event goes on with the message of the event before.
    pub fn continues(&self) -> bool {
        self.part.is_some_and(|part| part > 1)
    }

    /// Whether the message ends with this event.
    pub fn ends(&self) -> bool {
        self.last_part.unwrap_or(true)
    }
}

impl Payload for AgentMessage {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        Some(Self { text: text_of(content), part: members.number("part"), last_part: members.flag("lastPart") })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        let part = self.part.map(|part| ("part".to_owned(), part.into()));
        let last = self.last_part.map(|last| ("lastPart".to_owned(), last.into()));
        Value::Object(part.into_iter().chain(last).collect::<Map<_, _>>()).to_string()
    }
}
