//! `session.status_change`: the session got another status.

use super::payload::{Payload, json_text, read_fields};
use crate::session::Status;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Both statuses, and the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusChange {
    /// The status before; `None` if the session had none.
    pub from: Option<Status>,
    /// The status after.
    pub to: Status,
    /// Why, for people.
    pub reason: String,
    /// Digest of the final row, in the change to a final status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_digest: Option<Value>,
    /// Digest of what the session was created with, in a change that gives it a new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_digest: Option<Value>,
    /// Digest of the usage that the session has then, in a change by which a claimed session stops running and waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_digest: Option<Value>,
}

impl Payload for StatusChange {
    fn read(_content: &str, metadata: &str) -> Option<Self> {
        read_fields(metadata)
    }

    fn metadata(&self) -> String {
        json_text(self)
    }

    fn sentence(&self) -> Option<String> {
        Some(self.reason_words().to_owned())
    }
}

impl StatusChange {
    /// The reason as people say it. Logs keep the words of the product's own changes for good, so they are replaced
    /// where they are shown.
    pub fn reason_words(&self) -> &str {
        match self.reason.as_str() {
            "dispatched" => "queued",
            "claimed" => "started",
            "completed by its worker" => "finished",
            other => other,
        }
    }
}
