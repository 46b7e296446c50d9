//! The turns of conversations that a text comes from.

use crate::id::SessionId;
use serde::{Deserialize, Serialize};

/// One turn: an event of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Whose log holds the event.
    pub session: SessionId,
    /// Sequence of the event in the session's log.
    pub sequence: u64,
}

/// A turn from which one line of a document comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineEvidence {
    /// Number of the line, from 1.
    pub line: u32,
    /// Whose log holds the event.
    pub session: SessionId,
    /// Sequence of the event in the session's log.
    pub sequence: u64,
}
