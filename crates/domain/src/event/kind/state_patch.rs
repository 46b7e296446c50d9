//! `state.patch`: shared state was changed by JSON Patch operations.

use super::payload::{Payload, about, text_content, text_of};

/// A change of shared state. What it changes is recorded as the worker sent it, and not interpreted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatePatch {
    /// What the worker says about it.
    pub text: Option<String>,
}

impl Payload for StatePatch {
    fn read(content: &str, _metadata: &str) -> Option<Self> {
        Some(Self { text: text_of(content) })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn sentence(&self) -> Option<String> {
        Some(about("State changed", self.text.as_deref()))
    }
}
