//! Archiving and restoring several actions.

use super::{ActionChange, get, update};
use crate::{
    Error, Ledger, Result,
    guard::{Fields, require},
};
use domain::{Scope, action::ActionStatus, id::ActionId, limit::BULK_ACTIONS_MAX, role::Permission};

/// What became of several actions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetStatuses {
    /// Actions that were given the status, in the order of the request.
    pub changed: Vec<ActionId>,
    /// Number of actions that had it before.
    pub already: u64,
    /// Number of actions that could not be changed: the workspace has no such action, or it is no longer valid.
    pub refused: u64,
}

/// Gives several actions this status, each by itself: what is refused does not stop the others. Sessions are not
/// changed.
///
/// # Errors
/// [`Error::Forbidden`] for a caller who may not manage actions; [`Error::Invalid`] for more than [`BULK_ACTIONS_MAX`].
pub async fn set_statuses(
    ledger: &Ledger,
    scope: &Scope,
    ids: &[ActionId],
    status: ActionStatus,
) -> Result<SetStatuses> {
    require(scope, Permission::ManageActions)?;
    let mut fields = Fields::default();
    if ids.len() > BULK_ACTIONS_MAX {
        fields.refuse("task", format!("at most {BULK_ACTIONS_MAX}"));
    }
    fields.check()?;
    let mut done = SetStatuses::default();
    for id in ids {
        match set_status(ledger, scope, *id, status).await {
            Ok(true) => done.changed.push(*id),
            Ok(false) => done.already += 1,
            Err(Error::NotFound(_) | Error::Invalid(_)) => done.refused += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Gives an action this status. Returns `false` if it has it.
async fn set_status(ledger: &Ledger, scope: &Scope, id: ActionId, status: ActionStatus) -> Result<bool> {
    if get(ledger, scope, id).await?.status == status {
        return Ok(false);
    }
    let change = ActionChange { status: Some(status), ..ActionChange::default() };
    update(ledger, scope, id, change).await?;
    Ok(true)
}
