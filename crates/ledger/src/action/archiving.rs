//! What archiving several actions would do.

use crate::{
    Ledger, Result,
    guard::{Fields, require},
};
use domain::{Scope, action::ActionStatus, id::ActionId, limit::BULK_ACTIONS_MAX, role::Permission};

/// An action with sessions that have not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAction {
    /// The action.
    pub id: ActionId,
    /// Its display name.
    pub name: String,
    /// Number of its sessions that wait for a worker.
    pub pending: u64,
    /// Number of its other sessions that have not ended.
    pub others: u64,
}

/// What archiving several actions would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Archiving {
    /// Number of actions that are active now.
    pub active: u64,
    /// Those of them that have sessions which have not ended, in the order of the request. Archiving leaves the
    /// sessions as they are. Incognito sessions are not counted.
    pub open: Vec<OpenAction>,
}

/// Says what archiving these actions would do. Ids of no action are left out.
///
/// # Errors
/// [`crate::Error::Forbidden`] for a caller who may not manage actions; [`crate::Error::Invalid`] for more than
/// [`BULK_ACTIONS_MAX`].
pub async fn archiving(ledger: &Ledger, scope: &Scope, ids: &[ActionId]) -> Result<Archiving> {
    require(scope, Permission::ManageActions)?;
    let mut fields = Fields::default();
    if ids.len() > BULK_ACTIONS_MAX {
        fields.refuse("task", format!("at most {BULK_ACTIONS_MAX}"));
    }
    fields.check()?;
    let (tenant_id, ids) = (scope.tenant_id, ids.to_vec());
    let read = ledger.snapshot(scope, async move |conn| {
        let mut briefs = store::action::briefs(conn, tenant_id, &ids).await?;
        briefs.retain(|_, (_, status)| *status == ActionStatus::Active);
        let open = store::action::open_sessions(conn, tenant_id, &ids).await?;
        let active = briefs.len() as u64;
        // An id that is named twice is listed once.
        let of = |id: &ActionId| {
            let (open, (name, _)) = (open.get(id)?, briefs.remove(id)?);
            Some(OpenAction { id: *id, name, pending: open.pending, others: open.others })
        };
        let open = ids.iter().filter_map(of).collect();
        Ok(Archiving { active, open })
    });
    read.await
}
