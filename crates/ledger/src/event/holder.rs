//! What a worker sends to the followers of its session besides events: it must hold the session, as for an append.

use crate::{
    Ledger, Result,
    commit::state,
    guard::{Fields, require},
    session,
};
use domain::{
    Scope,
    id::SessionId,
    role::Permission,
    session::{Actor, Command, decide},
};

/// Checks that the caller's `attempt` holds the session, and that `fields` have no problem.
///
/// # Errors
/// [`crate::Error::Invalid`] for a problem of `fields`; [`crate::Error::NotFound`] if there is no such session or the
/// caller cannot see it; [`crate::Error::Refused`] if the worker does not hold it, as for an append.
pub(super) async fn require_holder(
    ledger: &Ledger,
    scope: &Scope,
    (id, attempt): (SessionId, u32),
    fields: Fields,
) -> Result<()> {
    require(scope, Permission::Work)?;
    fields.check()?;
    let session = session::get(ledger, scope, id).await?;
    decide(state(&session), Actor::Worker { attempt }, Command::Append)?;
    Ok(())
}
