//! `human.marker`: a person wrote a note.

use super::payload::{Members, Payload, text_content, with_time};
use crate::{Timestamp, event::human::text_of};
use serde_json::json;

/// A person wrote a note. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// When, according to the browser (UTC).
    pub at: Option<Timestamp>,
    /// As the person typed it.
    pub note: String,
}

impl Payload for Marker {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        Some(Self { at: members.time("at"), note: Some(text_of(content)).filter(|note| !note.is_empty())? })
    }

    fn content(&self) -> String {
        text_content(Some(&self.note))
    }

    fn metadata(&self) -> String {
        with_time(json!({}), self.at)
    }

    fn sentence(&self) -> Option<String> {
        Some(format!("Marker: “{}”", self.note))
    }
}
