//! Reading the entity types of a workspace.

use crate::{
    EntityTypeRecord, Error, Ledger, ListPage, Listed, Result,
    cursor::{List, encode},
    guard::require,
};
use domain::{Scope, id::EntityTypeId, role::Permission};

/// Returns one page of entity types, newest first.
///
/// # Errors
/// [`Error::Invalid`] for a limit above 1,000; [`Error::InvalidCursor`] for a cursor of another list.
pub async fn list(ledger: &Ledger, scope: &Scope, page: ListPage) -> Result<Listed<EntityTypeRecord>> {
    require(scope, Permission::Read)?;
    let (before, limit) = page.before_id(List::EntityTypes)?;
    let (tenant_id, before) = (scope.tenant_id, before.map(EntityTypeId));
    let page = ledger
        .store()
        .read(scope.into(), async move |conn| store::entity_type::list(conn, tenant_id, before, limit).await)
        .await?;
    Ok(Listed::of(page, |last| encode(List::EntityTypes, last.id.0)))
}

/// Returns an entity type of the workspace.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such entity type.
pub async fn get(ledger: &Ledger, scope: &Scope, id: EntityTypeId) -> Result<EntityTypeRecord> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.store().read(scope.into(), async move |conn| store::entity_type::find(conn, tenant_id, id).await);
    read.await?.ok_or(Error::NotFound("entity type"))
}

/// Returns the entity type of the workspace with this slug.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no entity type with this slug.
pub async fn get_by_slug(ledger: &Ledger, scope: &Scope, slug: &str) -> Result<EntityTypeRecord> {
    require(scope, Permission::Read)?;
    let (tenant_id, slug) = (scope.tenant_id, slug.to_owned());
    let read = ledger
        .store()
        .read(scope.into(), async move |conn| store::entity_type::find_by_slug(conn, tenant_id, &slug).await);
    read.await?.ok_or(Error::NotFound("entity type"))
}
