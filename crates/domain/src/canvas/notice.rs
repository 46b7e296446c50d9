//! What the person who edits is told about their own changes.

use super::{
    decide::{Committed, Overwritten, Rejected},
    document::Document,
    operation::Operation,
};
use serde_json::Value;

/// A notice for the person who edits.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// A change of theirs was not accepted.
    Rejected {
        /// The operations.
        ops: Vec<Operation>,
        /// The reason, and what stays.
        rejected: Rejected,
    },
    /// A change of theirs was replaced by someone who had not seen it.
    Overwritten {
        /// The change of theirs.
        change: Overwritten,
        /// The value that was replaced; `None` if it was there no more, or is not known.
        mine: Option<Value>,
        /// Who replaced it.
        by: String,
    },
}

/// The notices about changes that a patch replaced: those of a client, and those of its author's other clients unless
/// the author replaced them. `before` is the document without the patch.
pub(super) fn overwritten(
    client_id: &str,
    author: &str,
    before: Option<&Document>,
    committed: &Committed,
) -> Vec<Notice> {
    let is_of_client = |op_id: &str| op_id.rsplit_once(':').is_some_and(|(id, _)| id == client_id);
    let is_by_other = committed.by != author;
    let own = |change: &&Overwritten| is_of_client(&change.op_id) || is_by_other && change.by == author;
    let notice = |change: &Overwritten| Notice::Overwritten {
        change: change.clone(),
        mine: before.and_then(|before| change.path.of(before.value())).cloned(),
        by: committed.by.clone(),
    };
    committed.overwrote.iter().filter(own).map(notice).collect()
}
