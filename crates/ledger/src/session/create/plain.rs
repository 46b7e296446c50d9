//! The fast path of a new session of an agent that refers to nothing: no action, no other session, no key that makes a
//! repeat the same. On PostgreSQL such sessions that wait together share a statement.

use super::{LockedRelations, NewSession, build, opening};
use crate::{Ledger, Result, commit::Minter};
use domain::{
    Scope,
    id::SessionId,
    session::{Session, Type},
};
use store::session::PlainCreation;

/// Creates a session together with others. Returns `None` if the general path must be used.
pub(super) async fn attempt(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    mut minter: Minter,
    new: &NewSession,
) -> Result<Option<Session>> {
    let refers = new.action_id.is_some() || new.parent_id.is_some() || !new.depends_on.is_empty();
    if !ledger.store().is_postgres() || new.session_type != Type::Agent || refers || new.idempotency_key.is_some() {
        return Ok(None);
    }
    let place = LockedRelations::default();
    let mut session = build(*scope, (id, minter.at()), new.clone(), (None, &place), None)?;
    // An incognito session is marked in a column that the shared statement does not write.
    if session.private_to.is_some() {
        return Ok(None);
    }
    let events = opening(&mut minter, &mut session, &place)?;
    Ok(ledger.store().create_plain(scope.into(), PlainCreation { session, events }).await?)
}
