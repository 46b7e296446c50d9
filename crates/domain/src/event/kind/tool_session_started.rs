//! `tool.session_started`: a person or a program opened a tool.

use super::payload::{Members, Payload, about, json_text, text_content, text_of};
use serde::Serialize;

/// A person or a program opened a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolOpened {
    /// What the writer says about it.
    #[serde(skip)]
    pub text: Option<String>,
    /// Name of the tool; the slug of a tool of the workspace.
    #[serde(rename = "toolName", skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Version of a tool of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

impl Payload for ToolOpened {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        let tool = members.text(&["toolName", "tool", "name"]);
        Some(Self { text: text_of(content), tool, version: members.number("version") })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(self)
    }

    fn sentence(&self) -> Option<String> {
        let name = self.text.as_deref().or(self.tool.as_deref());
        let sentence = about("Tool opened", name);
        Some(self.version.map_or_else(|| sentence.clone(), |version| format!("{sentence} (version {version})")))
    }
}
