//! `session.tags_change`: the session got tags, or lost some.

use super::payload::{Payload, json_text, read_fields};
use serde::{Deserialize, Serialize};

/// The tags that differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TagsChange {
    /// Tags that the session did not have before.
    pub added: Vec<String>,
    /// Tags that it has no more.
    pub removed: Vec<String>,
}

impl Payload for TagsChange {
    fn read(_content: &str, metadata: &str) -> Option<Self> {
        read_fields(metadata)
    }

    fn metadata(&self) -> String {
        json_text(self)
    }

    fn sentence(&self) -> Option<String> {
        let added = (!self.added.is_empty()).then(|| ["Tagged ", &self.added.join(", ")].concat());
        let removed = (!self.removed.is_empty()).then(|| ["Removed the tag ", &self.removed.join(", ")].concat());
        Some(added.into_iter().chain(removed).collect::<Vec<_>>().join(". "))
    }
}
