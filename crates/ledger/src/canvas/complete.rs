//! Completing a canvas.

use super::{find_locked, require_editor};
use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
    guard::require,
};
use domain::{
    Scope,
    id::SessionId,
    role::Permission,
    session::{Actor, Command, Report, decide},
};
use serde_json::json;

/// Completes a canvas at its newest version, which the result of the session names. A canvas that has ended stays as it
/// is.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such canvas; [`crate::Error::Forbidden`] if the caller may not change it.
pub async fn complete(ledger: &Ledger, scope: &Scope, id: SessionId) -> Result<()> {
    require(scope, Permission::StartSession)?;
    let (caller, minter) = (*scope, Minter::new(ledger, ledger.now()));
    let written = ledger.write(scope.into(), async move |tx| {
        let (before, canvas) = find_locked(tx, &caller, id).await?;
        require_editor(tx.conn(), &caller, &before).await?;
        if before.status().is_final() {
            return Ok(());
        }
        let change = Change {
            id,
            actor: Actor::Caller,
            command: Command::Stop,
            caller: caller.caller,
            reason: format!("completed at version {}", canvas.version),
            minter,
        };
        let transition = decide(state(&before), change.actor, change.command)?;
        let report = Report { result: Some(json!({ "version": canvas.version }).to_string()), ..Report::default() };
        write(tx, before, transition, change, Vec::new(), report).await?;
        Ok(())
    });
    written.await
}
