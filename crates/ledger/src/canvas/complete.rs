//! Completing a canvas.

use super::{find_locked, require_editor, write_back::write_back};
use crate::{
    Ledger, Result,
    commit::{Change, Minter, state, write},
    guard::require,
    response::promotion::Ids,
};
use domain::{
    Scope,
    id::{ActionId, SessionId},
    role::Permission,
    session::{Actor, Command, Report, Session, decide},
};
use serde_json::json;
use store::WriteTx;

/// Completes a canvas at its newest version, which the result of the session names. A canvas that has ended stays as it
/// is. With a task, the fields that were changed are written to the entity with which the canvas began, or wait for
/// approval where the task requires one. A repeat changes nothing. What was denied can be written again.
///
/// # Errors
/// [`crate::Error::NotFound`] if there is no such canvas or task; [`crate::Error::Forbidden`] if the caller may not
/// change the canvas, or write entities; [`crate::Error::Invalid`] for a canvas that did not begin with an entity or
/// was abandoned, if no field was changed, and for a task or values that cannot be written; [`crate::Error::HardBlock`]
/// if the task's safety rules block them.
pub async fn complete(ledger: &Ledger, scope: &Scope, id: SessionId, write_by: Option<ActionId>) -> Result<()> {
    require(scope, Permission::StartSession)?;
    if write_by.is_some() {
        require(scope, Permission::WriteEntities)?;
    }
    let (caller, minter, ids) = (*scope, Minter::new(ledger, ledger.now()), Ids::new(ledger));
    let written = ledger.write(scope.into(), async move |tx| {
        let (before, canvas) = find_locked(tx, &caller, id).await?;
        require_editor(tx.conn(), &caller, &before).await?;
        let ended =
            if before.status().is_final() { before } else { stop(tx, &caller, before, canvas.version, minter).await? };
        if let Some(action_id) = write_by {
            write_back(tx, &caller, (&ended, &canvas), action_id, &ids).await?;
        }
        Ok(())
    });
    written.await
}

async fn stop(tx: &mut WriteTx<'_>, scope: &Scope, before: Session, version: u64, minter: Minter) -> Result<Session> {
    let change = Change {
        id: before.id,
        actor: Actor::Caller,
        command: Command::Stop,
        caller: scope.caller,
        reason: format!("completed at version {version}"),
        minter,
    };
    let transition = decide(state(&before), change.actor, change.command)?;
    let report = Report { result: Some(json!({ "version": version }).to_string()), ..Report::default() };
    write(tx, before, transition, change, Vec::new(), report).await
}
