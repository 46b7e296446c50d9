//! `user.tool_result`: a person, or a program in their place, supplied the result of a custom tool.

use super::payload::{Payload, json_text, read_fields};
use serde::{Deserialize, Serialize};

/// What the tool returned, and for which attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuppliedResult {
    /// The result: a JSON array with one part of type `tool-result`.
    #[serde(skip)]
    pub content: String,
    /// Attempt that called the tool.
    pub attempt: u32,
}

impl Payload for SuppliedResult {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { content: content.to_owned(), ..read_fields(metadata)? })
    }

    fn content(&self) -> String {
        self.content.clone()
    }

    fn metadata(&self) -> String {
        json_text(self)
    }
}
