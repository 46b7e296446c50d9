//! `user.message`: what a person said to an agent.

use super::payload::{Payload, json_text, text_content, text_of};
use serde::{Deserialize, Serialize};

/// A message of a person.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// What the person said.
    #[serde(skip)]
    pub text: Option<String>,
    /// Who said it, if it reached the agent through another platform. Only the server writes messages of people, and it
    /// takes an author only from tokens that may relay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<RelayedAuthor>,
    /// What the hook of a coding agent said about the prompt.
    #[serde(default, skip_serializing)]
    fields: Option<PromptFields>,
}

/// The author of a message that reached the agent through another platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayedAuthor {
    /// Name of the platform, such as `slack`.
    pub platform: String,
    /// Id of the person there.
    pub id: String,
    /// Name as it is shown there.
    pub name: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
struct PromptFields {
    #[serde(default)]
    prompt_id: Option<String>,
    #[serde(default)]
    turn_id: Option<String>,
}

impl UserMessage {
    /// A message with this text, and who said it if it was relayed.
    pub fn new(text: &str, author: Option<RelayedAuthor>) -> Self {
        Self { text: Some(text.to_owned()), author, fields: None }
    }

    /// The coding agent's id of the turn that the message begins.
    pub fn turn_id(&self) -> Option<&str> {
        let fields = self.fields.as_ref()?;
        fields.prompt_id.as_deref().or(fields.turn_id.as_deref())
    }
}

impl Payload for UserMessage {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        // A message without readable metadata is a message nevertheless.
        Some(Self { text: text_of(content), ..serde_json::from_str(metadata).unwrap_or_default() })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(self)
    }
}
