//! `tool.session_started`: a person or a program opened a tool.

use super::payload::{Members, Payload, about, json_text, text_content, text_of};
use crate::id::ToolLinkId;
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
    /// The link by which a person without an account ran it.
    #[serde(rename = "linkId", skip_serializing_if = "Option::is_none")]
    pub link: Option<ToolLinkId>,
}

impl Payload for ToolOpened {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        let tool = members.text(&["toolName", "tool", "name"]);
        let link = members.text(&["linkId"]).and_then(|id| id.parse().ok());
        Some(Self { text: text_of(content), tool, version: members.number("version"), link })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(self)
    }

    fn sentence(&self) -> Option<String> {
        let name = self.text.as_deref().or(self.tool.as_deref());
        let mut sentence = about("Tool opened", name);
        if let Some(version) = self.version {
            sentence.push_str(&format!(" (version {version})"));
        }
        if self.link.is_some() {
            sentence.push_str(" by a link");
        }
        Some(sentence)
    }
}
