//! One attempt to record a hook: what it is made with, and why it wrote nothing.

use crate::{Error, commit::EventFactory};
use domain::{
    Scope, Timestamp,
    hook::{ParsedHook, Source},
    id::SessionId,
};
use serde_json::Value;

/// Context that an agent gets, which is also recorded in the log.
#[derive(Debug, Clone)]
pub(super) struct Injected {
    /// Text of the context block.
    pub(super) text: String,
    /// Metadata of the event that records the block.
    pub(super) metadata: Value,
}

/// Why an attempt wrote nothing.
pub(super) enum AttemptError {
    /// Another hook created the session at the same time. The caller tries again.
    Again,
    /// A permanent error.
    Failed(Error),
}

impl From<Error> for AttemptError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<store::Error> for AttemptError {
    fn from(error: store::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// Data of one attempt, prepared before its transaction.
pub(super) struct Attempted {
    pub(super) scope: Scope,
    pub(super) source: Source,
    pub(super) parsed: ParsedHook,
    pub(super) external_id: Option<String>,
    pub(super) at: Option<Timestamp>,
    pub(super) context: Vec<Injected>,
    pub(super) fresh: SessionId,
    pub(super) factory: EventFactory,
}
