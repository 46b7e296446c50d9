//! The patches that a client has skipped, because it took the newest document in their place.

use super::{
    decide::Committed,
    document::Document,
    notice::{Notice, overwritten},
};

/// The place up to which a client has read every patch, while its document is newer. The document does not say whose
/// changes were replaced; the skipped patches do.
#[derive(Debug, Clone)]
pub(super) struct Behind {
    /// Version of the last patch that was read.
    pub version: u64,
    /// Document at that version; `None` if a patch could not be applied to the one before it.
    pub document: Option<Document>,
}

impl Behind {
    /// Reads a patch, if it is the next one. Returns the notices about changes of this client and this author.
    pub fn read(&mut self, client_id: &str, author: &str, committed: &Committed) -> Vec<Notice> {
        if committed.previous != self.version {
            return Vec::new();
        }
        let notices = overwritten(client_id, author, self.document.as_ref(), committed);
        let document = self.document.take().and_then(|document| document.apply(&committed.ops).ok());
        self.document = document.map(|applied| applied.document);
        self.version = committed.sequence;
        notices
    }
}
