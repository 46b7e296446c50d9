//! Reading one action.

use crate::{ActionRecord, Error, Ledger, Result, guard::require};
use domain::{
    Scope,
    id::{ActionId, TenantId},
    role::Permission,
};
use store::Conn;

/// Returns the action with this slug, or `None` if the workspace has none.
pub async fn find_by_slug(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<Option<ActionRecord>> {
    require(scope, Permission::Read)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read =
        ledger.store().read(scope.into(), async move |conn| store::action::find_by_slug(conn, tenant_id, &slug).await);
    Ok(read.await?)
}

/// Returns an action of the workspace.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such action.
pub async fn get(ledger: &Ledger, scope: &Scope, id: ActionId) -> Result<ActionRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| get_on(conn, tenant_id, id).await).await
}

/// [`get`] on an open connection.
pub(crate) async fn get_on(conn: &mut Conn<'_>, tenant_id: TenantId, id: ActionId) -> Result<ActionRecord> {
    store::action::find(conn, tenant_id, id).await?.ok_or(Error::NotFound("action"))
}
