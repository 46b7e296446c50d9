//! One attempt to record a hook: what it is made with, and why it wrote nothing.

use crate::{Error, commit::Minter, relevance::Report};
use domain::{
    Scope, Timestamp,
    event::kind::ContextInjected,
    hook::{ParsedHook, Source},
    id::SessionId,
    relevance::Settings,
};
use store::relevance::Considered;

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
    /// Recent activity, then memories.
    pub(super) context: Vec<ContextInjected>,
    /// Name of what ranked the memories in the context, and their candidates.
    pub(super) considered: (String, Vec<Considered>),
    /// How ratings are requested and what they cause.
    pub(super) settings: Settings,
    /// Results of the ratings of the hook.
    pub(super) rated: Vec<Report>,
    pub(super) fresh: SessionId,
    pub(super) minter: Minter,
}
