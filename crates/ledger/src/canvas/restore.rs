//! Restoring an earlier version of a canvas: a new patch whose result is that version.

use super::{
    patch::{Outcome, SentPatch, patch},
    read::state,
};
use crate::{Error, Ledger, Result};
use domain::{Scope, canvas::operations, id::SessionId};
use serde_json::json;

/// Makes the document as it was at a version, by a patch on the version `base` that the caller saw. What others changed
/// since `base` is not lost: their changes conflict as with every patch. For participants with the role `suggest` it is
/// a suggestion. A repeat with the same `op_id` changes nothing.
///
/// # Errors
/// [`Error::Invalid`] for a version or base that the canvas does not have, if they have the same document, and for a
/// document that is too large for one patch; otherwise those of [`patch`].
pub async fn restore(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    (version, base): (u64, u64),
    op_id: String,
) -> Result<Outcome> {
    let wanted = state(ledger, scope, id, Some(version)).await?;
    let now = state(ledger, scope, id, Some(base)).await?;
    let ops = operations(&now.document, &wanted.document);
    if ops.is_empty() {
        return Err(Error::invalid("version", "it has the same document as the version that the page showed"));
    }
    // The whole document is replaced only on the newest version, which the creator has to have seen.
    let is_strict = ops.iter().any(|operation| operation.path().is_root());
    let ops = ops.iter().map(|operation| json!(operation)).collect();
    patch(ledger, scope, id, SentPatch { op_id, base, ops, is_strict }).await
}
