//! Deleting a draft.

use super::listed_locked;
use crate::{Error, Ledger, Result, guard::require};
use domain::{Scope, id::ViewId, role::Permission, view::State};

/// Deletes a view that was never published.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such view; [`Error::WrongState`] if it was published, because
/// responses name its versions.
pub async fn delete(ledger: &Ledger, scope: &Scope, id: ViewId) -> Result<()> {
    require(scope, Permission::ManageViews)?;
    let tenant_id = scope.tenant_id;
    ledger
        .write(scope.into(), async move |tx| {
            let view = listed_locked(tx, tenant_id, id).await?;
            if view.state != State::Draft {
                return Err(Error::WrongState { what: "view", rule: "only a draft can be deleted", state: view.state });
            }
            Ok(store::view::delete(tx, tenant_id, id).await?)
        })
        .await
}
