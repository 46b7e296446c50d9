//! One action.

use crate::{ActionRecord, Error, Ledger, Result, guard::require};
use domain::{Scope, id::ActionId, role::Permission};

/// The action of the workspace with this slug, where there is one.
pub async fn find_by_slug(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<Option<ActionRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.store().read(scope.into(), move |conn| {
        Box::pin(async move { store::action::find_by_slug(conn, tenant_id, &slug).await })
    });
    Ok(read.await?)
}

/// An action of the workspace.
pub async fn get(ledger: &Ledger, scope: &Scope, id: ActionId) -> Result<ActionRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::action::find(conn, tenant_id, id)));
    read.await?.ok_or(Error::NotFound("action"))
}
