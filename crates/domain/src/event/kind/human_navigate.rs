//! `human.navigate`: a person opened a page.

use super::payload::{Members, Payload, with_time};
use crate::Timestamp;
use serde_json::json;

/// A person opened a page. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Navigate {
    /// When, according to the browser (UTC).
    pub at: Option<Timestamp>,
    /// Path of the page.
    pub pathname: String,
}

impl Payload for Navigate {
    fn read(_content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        Some(Self { at: members.time("at"), pathname: members.pathname()? })
    }

    fn metadata(&self) -> String {
        with_time(json!({ "pathname": self.pathname }), self.at)
    }

    fn sentence(&self) -> Option<String> {
        Some(format!("Went to {}", self.pathname))
    }
}
