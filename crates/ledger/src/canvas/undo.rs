//! Ids of the patches by which the server undoes accepted suggestions.

use domain::chain::{Digest, body_digest};

/// Beginning of such an id; a digest follows.
const UNDO_ID_PREFIX: &str = "undo-";

/// Id of the patch that undoes an accepted suggestion. Ids of suggestions can be as long as an id may be.
pub(super) fn undo_id(op_id: &str) -> String {
    format!("{UNDO_ID_PREFIX}{}", body_digest("canvas suggestion", op_id))
}

/// Whether an id can be one of [`undo_id`]. Authors cannot choose such an id: a patch that had it would count as the
/// undoing of a suggestion, which then could not be undone.
pub(super) fn is_undo_id(op_id: &str) -> bool {
    op_id.strip_prefix(UNDO_ID_PREFIX).and_then(Digest::parse).is_some()
}
