//! Both sides of a write of a memory document that was refused.

use domain::{Timestamp, chain::Digest, memory::Source};

/// Both sides of a write that was refused, so that the caller can merge them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Path of the document that the caller wanted to write.
    pub path: String,
    /// The version on which the caller based the write; 0 if there should be none.
    pub given: u64,
    /// The text of that version; `None` if there is no such version or it was erased.
    pub base: Option<String>,
    /// The newest version; `None` if there is no document.
    pub current: Option<Side>,
    /// The text that the caller wanted to write, without secrets.
    pub wanted: String,
}

/// The newest version of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Number of the version.
    pub version: u64,
    /// SHA-256 of its text.
    pub digest: Digest,
    /// The whole document at that version.
    pub text: String,
    /// Whether it deleted the document.
    pub is_deleted: bool,
    /// Kind of writer, such as a person, an agent or a character card.
    pub source: Source,
    /// Who wrote it, as a caller is displayed, such as `user:…` or `system`.
    pub author: String,
    /// Time it was written (UTC).
    pub at: Timestamp,
}
