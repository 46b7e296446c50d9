//! The page of one entity type.

use super::entity::TYPES_MAX;
use crate::{EntityTypeRecord, Error, Ledger, Result, guard::require};
use domain::{Scope, id::EntityTypeId, role::Permission};

/// The type that the page shows, and the types that its fields can refer to.
#[derive(Debug)]
pub struct Page {
    /// Type that the page shows.
    pub of: EntityTypeRecord,
    /// The types of the workspace to which a field can refer, newest first.
    pub types: Vec<EntityTypeRecord>,
}

/// Reads the page.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such entity type.
pub async fn read(ledger: &Ledger, scope: &Scope, id: EntityTypeId) -> Result<Page> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| {
        let of = store::entity_type::find(conn, tenant_id, id).await?.ok_or(Error::NotFound("entity type"))?;
        Ok(Page { of, types: store::entity_type::list(conn, tenant_id, None, TYPES_MAX).await?.items })
    });
    read.await
}
