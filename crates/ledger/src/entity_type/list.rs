//! The entity types of a workspace.

use crate::{
    EntityTypeRecord, Ledger, ListPage, Listed, Result,
    cursor::{List, encode},
    guard::require,
};
use domain::{Scope, id::EntityTypeId, role::Permission};

/// Returns one page of entity types, newest first.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<EntityTypeRecord>> {
    require(scope, Permission::Read)?;
    let (before, limit) = page.before_id(List::EntityTypes)?;
    let (tenant_id, before) = (scope.tenant_id, before.map(EntityTypeId));
    let page = ledger
        .store()
        .read(scope.into(), move |conn| Box::pin(store::entity_type::list(conn, tenant_id, before, limit)))
        .await?;
    Ok(Listed::of(page, |last| encode(List::EntityTypes, last.id.0)))
}
