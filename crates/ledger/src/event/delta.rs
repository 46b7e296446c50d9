//! Sends pieces of an answer that an agent is still writing. They are never stored. The finished answer is an
//! event.

use crate::{
    Ledger, Result,
    commit::state,
    guard::{Fields, require},
    session,
};
use domain::{
    Scope,
    id::SessionId,
    limit::DELTA_BYTES_MAX,
    role::Permission,
    session::{Actor, Command, decide},
};
use std::sync::Arc;

pub use crate::live::Delta;

/// Sends a piece to the followers of the session on this server. Other servers do not receive it.
///
/// # Errors
/// [`crate::Error::Invalid`] for an empty text or one of more than [`DELTA_BYTES_MAX`] bytes;
/// [`crate::Error::NotFound`] if there is no such session or the caller cannot see it; [`crate::Error::Refused`] if the
/// worker does not hold it, as for an append.
pub async fn send_delta(ledger: &Ledger, scope: &Scope, id: SessionId, delta: Delta) -> Result<()> {
    require(scope, Permission::Work)?;
    let mut fields = Fields::default();
    if delta.text.is_empty() || delta.text.len() > DELTA_BYTES_MAX {
        fields.refuse("text", format!("1 to {DELTA_BYTES_MAX} bytes"));
    }
    fields.check()?;
    let session = session::get(ledger, scope, id).await?;
    decide(state(&session), Actor::Worker { attempt: delta.attempt }, Command::Append)?;
    ledger.hub().publish_delta(scope.tenant_id, id, Arc::new(delta));
    Ok(())
}
