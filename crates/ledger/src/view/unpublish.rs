//! Withdrawing a view.

use super::listed_locked;
use crate::{Error, Ledger, Result, ViewRecord, guard::require};
use domain::{Scope, id::ViewId, role::Permission, view::State};

/// Closes a view: it takes no responses until it is published again. Its versions and responses stay. A repeat changes
/// nothing.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view; [`Error::WrongState`] if it was never published.
pub async fn unpublish(ledger: &Ledger, scope: &Scope, id: ViewId) -> Result<ViewRecord> {
    require(scope, Permission::ManageViews)?;
    let (tenant_id, now, actor) = (scope.tenant_id, ledger.now(), scope.caller.to_string());
    ledger
        .write(scope.into(), async move |tx| {
            let before = listed_locked(tx, tenant_id, id).await?;
            match before.state {
                State::Unpublished => return Ok(before),
                State::Draft => {
                    let rule = "only a published view can be unpublished";
                    return Err(Error::WrongState { what: "view", rule, state: before.state });
                }
                State::Published => {}
            }
            let record = ViewRecord { state: State::Unpublished, updated_by: actor, updated_at: now, ..before };
            store::view::update(tx, tenant_id, &record).await?;
            Ok(record)
        })
        .await
}
