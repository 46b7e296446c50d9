//! `session.error`: something failed, or an output was refused.

use super::payload::{Members, Payload, json_text, text_content, text_of};
use crate::{
    id::{GateId, SessionId},
    session::Status,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A failure.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionError {
    /// What failed, for people.
    pub message: Option<String>,
    /// What is known about it.
    pub failure: Failure,
}

/// What is known about a failure, by what failed. Events that workers write themselves are [`Failure::Other`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Failure {
    /// The worker reported that it failed.
    Reported {
        /// Attempt that failed.
        attempt: u32,
        /// Stable name that the worker gave the failure.
        code: Option<String>,
    },
    /// A safety rule blocks the output.
    Blocked {
        /// Stable name of the failure.
        code: String,
        /// Attempt whose output it is.
        attempt: u32,
        /// What the rule said; `None` if no rule could be read.
        safety_gate: Option<Value>,
    },
    /// The output was denied too often.
    Rejected {
        /// The gate at which it was denied last.
        gate_id: GateId,
        /// Stable name of the failure.
        code: String,
        /// How often outputs of the session were denied.
        denials: usize,
    },
    /// No worker finished the session.
    Exhausted {
        /// Stable name of the failure.
        code: String,
        /// How many attempts there were.
        attempts: u32,
    },
    /// Another session did not end as this one needs it.
    Dependency {
        /// Stable name of the failure.
        code: String,
        /// The other session.
        session_id: SessionId,
        /// How it ended.
        status: Status,
    },
    /// A time limit was exceeded.
    TimedOut {
        /// Stable name of the failure.
        code: String,
        /// Status in which the session waited for too long.
        status: Status,
        /// How long it may wait there.
        limit_seconds: u32,
    },
    /// The output violates its contract.
    Refused(Refusal),
    /// Anything else. It is written as it is read.
    #[serde(skip_deserializing)]
    Other {
        /// Stable name of the failure.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
}

/// The refusal of an output that violates its contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Refusal {
    /// Stable name of the failure.
    pub code: String,
    /// Attempt whose output it is.
    pub attempt: u32,
    /// What the output violates.
    pub errors: Vec<Violation>,
    /// The output; `None` if there was none, or if it is too large for an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Its size in bytes, if it is too large for an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<usize>,
    /// Digest of the report with the output. Refusals of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_digest: Option<String>,
}

/// One rule that an output violates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// Path of the value.
    pub field: String,
    /// What it has to be, for people.
    pub message: String,
}

impl SessionError {
    /// A failure with this message.
    pub fn new(message: &str, failure: Failure) -> Self {
        Self { message: Some(message.to_owned()), failure }
    }

    /// The stable name of the failure.
    pub fn code(&self) -> Option<&str> {
        match &self.failure {
            Failure::Reported { code, .. } | Failure::Other { code } => code.as_deref(),
            Failure::Blocked { code, .. }
            | Failure::Rejected { code, .. }
            | Failure::Exhausted { code, .. }
            | Failure::Dependency { code, .. }
            | Failure::TimedOut { code, .. }
            | Failure::Refused(Refusal { code, .. }) => Some(code),
        }
    }
}

impl Payload for SessionError {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        let members = || Members::read(metadata);
        let failure = serde_json::from_str(metadata);
        let failure = failure.unwrap_or_else(|_| Failure::Other { code: members().text(&["code"]) });
        let message = text_of(content).or_else(|| members().text(&["message", "error"]));
        Some(Self { message, failure })
    }

    fn content(&self) -> String {
        text_content(self.message.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(&self.failure)
    }
}
