//! The page /imports/{id}: the progress of an import.

use crate::{EntityTypeRecord, Error, ImportRecord, Ledger, Result, guard::require};
use domain::{Scope, id::ImportId, role::Permission};

/// An import with its progress.
#[derive(Debug)]
pub struct Page {
    /// The state of the import, and how many rows it has read.
    pub import: ImportRecord,
    /// Type of the entities that it creates.
    pub of: EntityTypeRecord,
}

/// Reads the page.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such import.
pub async fn read(ledger: &Ledger, scope: &Scope, id: ImportId) -> Result<Page> {
    require(scope, Permission::Read)?;
    let tenant_id = scope.tenant_id;
    let read = ledger.snapshot(scope, async move |conn| {
        let import = store::entity::import::find(conn, tenant_id, id).await?.ok_or(Error::NotFound("import"))?;
        let of = store::entity_type::find(conn, tenant_id, import.type_id).await?;
        Ok(Page { of: of.ok_or(Error::NotFound("entity type"))?, import })
    });
    read.await
}
