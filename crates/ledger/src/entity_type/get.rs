//! Reading one entity type.

use crate::{EntityTypeRecord, Error, Ledger, Result, guard::require};
use domain::{Scope, id::EntityTypeId, role::Permission};

/// Returns an entity type of the workspace.
pub async fn get(ledger: &Ledger, scope: &Scope, id: EntityTypeId) -> Result<EntityTypeRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), move |conn| Box::pin(store::entity_type::find(conn, tenant_id, id)));
    read.await?.ok_or(Error::NotFound("entity type"))
}

/// Returns the entity type of the workspace with this slug.
pub async fn get_by_slug(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<EntityTypeRecord> {
    require(scope, Permission::Read)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger.store().read(scope.into(), move |conn| {
        Box::pin(async move { store::entity_type::find_by_slug(conn, tenant_id, &slug).await })
    });
    read.await?.ok_or(Error::NotFound("entity type"))
}
