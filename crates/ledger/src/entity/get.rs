//! Reading one entity, and the titles of several.

use crate::{EntityRecord, Error, Ledger, Result, guard::require};
use domain::{
    Scope,
    id::{EntityId, TenantId},
    role::Permission,
};
use store::{Conn, entity::EntityTitle};

/// Returns an entity of the workspace.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such entity.
pub async fn get(ledger: &Ledger, scope: &Scope, id: EntityId) -> Result<EntityRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    ledger.snapshot(scope, async move |conn| get_on(conn, tenant_id, id).await).await
}

/// [`get`] on an open connection.
pub(crate) async fn get_on(conn: &mut Conn<'_>, tenant_id: TenantId, id: EntityId) -> Result<EntityRecord> {
    store::entity::find(conn, tenant_id, id).await?.ok_or(Error::NotFound("entity"))
}

/// Returns the titles of at most [`domain::limit::ENTITY_TITLES_MAX`] entities. Ids that do not exist in the workspace
/// are left out.
pub async fn titles(ledger: &Ledger, scope: &Scope, ids: &[EntityId]) -> Result<Vec<EntityTitle>> {
    require(scope, Permission::Read)?;
    let (tenant_id, ids) = (scope.tenant_id, ids.to_vec());
    let read = ledger.store().read(scope.into(), async move |conn| store::entity::titles(conn, tenant_id, &ids).await);
    Ok(read.await?)
}
