//! What a version of a memory document records about its making.

use crate::{id::SessionId, names::names};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What wrote a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The pass that distils conversations.
    MemoryWriter,
    /// A person, in a page or through the API.
    Person,
    /// An agent, with the memory tool or the API.
    Agent,
    /// An import of a folder.
    Import,
    /// An admin removed the texts.
    Erasure,
    /// A character card.
    Card,
}
names!(Source {
    MemoryWriter = "memory_writer",
    Person = "person",
    Agent = "agent",
    Import = "import",
    Erasure = "erasure",
    Card = "card",
});

/// What a version did to its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Made the document, or made it again after it was deleted.
    Created,
    /// Changed its text.
    Modified,
    /// Gave it another path.
    Renamed,
    /// Deleted it. The version has no text.
    Deleted,
    /// Erased the texts of all its versions. The version has no text.
    Erased,
}
names!(Operation {
    Created = "created",
    Modified = "modified",
    Renamed = "renamed",
    Deleted = "deleted",
    Erased = "erased",
});

/// How a line differs between two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineChange {
    /// It is in both texts.
    Kept,
    /// It is in the new text only.
    Added,
    /// It is in the old text only.
    Removed,
}
names!(LineChange { Kept = "kept", Added = "added", Removed = "removed" });

/// The event of a session's log that a line of a version comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    /// Number of the line in the whole text of the version, from 1.
    pub line: u32,
    /// Whose log holds the event.
    pub session: SessionId,
    /// Sequence of the event in the session's log.
    pub sequence: u64,
}
