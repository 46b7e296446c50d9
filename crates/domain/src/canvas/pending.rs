//! A change of a client that waits for its answer.

use super::{
    document::Document,
    operation::{Operation, Patch},
    path::Path,
    words,
};
use serde_json::Value;

/// A change that the server has not answered.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub patch: Patch,
    pub kind: Kind,
    pub is_sent: bool,
    /// Base of the patch: the newest version whose values at the written places the author has seen. While an earlier
    /// change of such a value is shown, changes of others to it are not, so the base is that of the earlier change.
    pub seen: u64,
    /// Whether the shown document has it. One that does not apply hides nothing that others wrote.
    pub is_shown: bool,
    /// Ids of the earlier changes of its values that were not shown when it was made: it was not typed on their texts.
    pub not_on: Vec<String>,
    /// A confirmed document without it, from before the client read a newer one that can have it.
    pub before: Option<Document>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Edit,
    Undo,
    Redo,
    /// Made before the page was loaded again. It may have been sent, so it keeps its base and takes nothing in.
    Restored,
}

impl Pending {
    /// A change that was not sent, as its author sees it.
    pub const fn new(patch: Patch, kind: Kind, not_on: Vec<String>) -> Self {
        Self { seen: patch.base, patch, kind, is_sent: false, is_shown: true, not_on, before: None }
    }

    /// The base under which it is sent.
    pub const fn base(&self) -> u64 {
        match self.kind {
            Kind::Edit | Kind::Undo | Kind::Redo if !self.is_sent => self.seen,
            // The same patch under the same id has the same base.
            Kind::Edit | Kind::Undo | Kind::Redo | Kind::Restored => self.patch.base,
        }
    }

    /// Joins a text that was typed on `base` and not sent with the newest one, if both have a place for their words.
    /// Its author sees the text of `version` then.
    pub fn join(&mut self, path: &Path, (base, newest): (&str, &str), version: u64) {
        // What was restored may have been sent, so it stays as it was.
        if self.is_sent || self.kind != Kind::Edit {
            return;
        }
        if let [Operation::Replace { path: at, value: Value::String(mine) }] = self.patch.ops.as_mut_slice()
            && at == path
            && let Some(joined) = words::joined(base, newest, mine)
        {
            *mine = joined;
            self.seen = version;
        }
    }
}
