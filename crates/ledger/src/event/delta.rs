//! Sends pieces of an answer that an agent is still writing. They are never stored. The finished answer is an
//! event.

use super::holder::require_holder;
use crate::{Ledger, Result, guard::Fields};
use domain::{Scope, id::SessionId, limit::DELTA_BYTES_MAX};
use std::sync::Arc;

pub use crate::live::Delta;

/// Sends a piece to the followers of the session on this server. Other servers do not receive it.
///
/// # Errors
/// [`crate::Error::Invalid`] for an empty text or one of more than [`DELTA_BYTES_MAX`] bytes;
/// [`crate::Error::NotFound`] if there is no such session or the caller cannot see it; [`crate::Error::Refused`] if the
/// worker does not hold it, as for an append.
pub async fn send_delta(ledger: &Ledger, scope: &Scope, id: SessionId, delta: Delta) -> Result<()> {
    let mut fields = Fields::default();
    if delta.text.is_empty() || delta.text.len() > DELTA_BYTES_MAX {
        fields.refuse("text", format!("1 to {DELTA_BYTES_MAX} bytes"));
    }
    require_holder(ledger, scope, (id, delta.attempt), fields).await?;
    ledger.hub().publish_delta(scope.tenant_id, id, Arc::new(delta));
    Ok(())
}
