//! Cancelling a session.

use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
    guard::{Fields, require},
    visibility::{own_or_managed, require_visible},
};
use domain::{
    Scope,
    id::SessionId,
    limit::REASON_CHARS_MAX,
    role::Permission,
    session::{Actor, Command, Report, Session, decide},
};

/// Cancels a session: it is abandoned with the end reason cancelled. Allowed for the person who started it, and
/// for operators and admins.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such session or the caller cannot see it; [`crate::Error::Forbidden`] if
/// it is not the caller's and the caller may not manage others; [`crate::Error::Refused`] if it has ended;
/// [`crate::Error::Invalid`] for a reason that is too long.
pub async fn cancel(ledger: &Ledger, scope: &Scope, id: SessionId, reason: Option<String>) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    let mut fields = Fields::default();
    fields.text("reason", reason.as_deref(), REASON_CHARS_MAX);
    fields.check()?;
    let change = Change {
        id,
        actor: Actor::Caller,
        command: Command::Cancel,
        caller: scope.caller,
        reason: reason.filter(|r| !r.trim().is_empty()).unwrap_or_else(|| "cancelled".into()),
        minter: Minter::new(ledger, ledger.now()),
    };
    let scope = *scope;
    ledger
        .write((&scope).into(), async move |tx| {
            let before = store::session::find_locked(tx, scope.tenant_id, id).await?;
            let before = require_visible(tx.conn(), &scope, before).await?;
            own_or_managed(&scope, &before)?;
            let transition = decide(state(&before), change.actor, change.command)?;
            write(tx, before, transition, change, Vec::new(), Report::default()).await
        })
        .await
}
