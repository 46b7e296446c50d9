//! Deleting a draft.

use super::locked;
use crate::{Error, Ledger, Result, guard::require};
use domain::{Scope, role::Permission, tool::State};

/// Deletes a tool that was never published, with its secrets.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::WrongState`] if it was published, because runs name
/// its versions.
pub async fn delete(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<()> {
    require(scope, Permission::ManageTools)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    ledger
        .write(scope.into(), async move |tx| {
            let tool = locked(tx, tenant_id, &slug).await?;
            if tool.state != State::Draft {
                return Err(Error::WrongState { what: "tool", rule: "only a draft can be deleted", state: tool.state });
            }
            Ok(store::tool::delete(tx, tenant_id, tool.id).await?)
        })
        .await
}
