//! Finding the draft that the form of a page names.

use super::open::idempotency_key;
use crate::{Ledger, Result, guard::require, visibility::is_own};
use domain::{
    Scope,
    id::SessionId,
    role::Permission,
    session::{Session, Type},
};

/// Returns the session of the draft that a form names as [`super::SaveForm::id`]: by its id, or by the key under which
/// the form was first saved. `None` if the form was never saved, or the draft belongs to someone else.
pub async fn of_form(ledger: &Ledger, scope: &Scope, id: &str) -> Result<Option<Session>> {
    require(scope, Permission::Read)?;
    // PostgreSQL takes no text with this character.
    if id.contains('\0') {
        return Ok(None);
    }
    let (reader, tenant_id) = (*scope, scope.tenant_id);
    let (named, key) = (id.parse::<SessionId>().ok(), idempotency_key(id));
    let read = ledger.snapshot(scope, async move |conn| {
        let named = match named {
            Some(id) => store::session::find(conn, tenant_id, id).await?,
            None => None,
        };
        let found = match named {
            Some(session) => Some(session),
            None => store::session::find_by_idempotency_key(conn, tenant_id, &key).await?.map(|(session, _)| session),
        };
        Ok(found.filter(|session| session.session_type == Type::Tool && is_own(&reader, session)))
    });
    read.await
}
