//! `tool.session_started`: a person opened a tool.

use super::payload::{Members, Payload, about, text_content, text_of};
use serde_json::json;

/// A person opened a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolOpened {
    /// What the worker says about it.
    pub text: Option<String>,
    /// Name of the tool.
    pub tool: Option<String>,
}

impl Payload for ToolOpened {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { text: text_of(content), tool: Members::read(metadata).text(&["toolName", "tool", "name"]) })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        self.tool.as_ref().map_or_else(|| "{}".into(), |tool| json!({ "toolName": tool }).to_string())
    }

    fn sentence(&self) -> Option<String> {
        Some(about("Tool opened", self.text.as_deref().or(self.tool.as_deref())))
    }
}
