//! `external.event`: something that another system reported, or that a program printed.

use super::payload::{Members, Payload, text_content, text_of};
use serde_json::json;

/// A report from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExternalEvent {
    /// What was reported.
    pub text: Option<String>,
    /// Name of the system.
    pub source: Option<String>,
}

impl Payload for ExternalEvent {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        let text = text_of(content).or_else(|| members.text(&["title", "message", "summary", "name"]));
        Some(Self { text, source: members.text(&["source", "system"]) })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        self.source.as_ref().map_or_else(|| "{}".into(), |source| json!({ "source": source }).to_string())
    }

    fn sentence(&self) -> Option<String> {
        Some(match (&self.source, &self.text) {
            (Some(source), Some(text)) => format!("{source}: {text}"),
            (Some(only), None) | (None, Some(only)) => only.clone(),
            (None, None) => "External event".to_owned(),
        })
    }
}
