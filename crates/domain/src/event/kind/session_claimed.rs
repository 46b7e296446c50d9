//! `session.claimed`: a worker took the session.

use super::payload::{Payload, json_text, read_fields};
use serde::{Deserialize, Serialize};

/// The claim of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claimed {
    /// Number of the attempt; the first is 1.
    pub attempt: u32,
    /// The caller that claimed it: `token:…` or `user:…`.
    pub worker: String,
    /// How long the lease is, seconds.
    pub lease_seconds: u32,
}

impl Payload for Claimed {
    fn read(_content: &str, metadata: &str) -> Option<Self> {
        read_fields(metadata)
    }

    fn metadata(&self) -> String {
        json_text(self)
    }

    fn sentence(&self) -> Option<String> {
        Some(format!("Started by {} (attempt {})", self.by(), self.attempt))
    }
}

impl Claimed {
    /// Who claimed the session, in words.
    pub fn by(&self) -> &str {
        match self.worker.split_once(':') {
            Some(("token", _)) => "a worker",
            Some(("user", _)) => "a person",
            _ => &self.worker,
        }
    }
}
