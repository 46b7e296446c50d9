//! Starting an import.

use super::{NewImport, columns_of, file};
use crate::{ImportRecord, Ledger, Result, entity_type, guard::require};
use domain::{
    Scope,
    entity::ImportStatus,
    id::{EntityTypeId, ImportId},
    role::Permission,
};

/// Checks and stores a file to import. No entity is created yet. [`super::run`] creates them, also after a
/// restart.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such entity type; [`crate::Error::TooLarge`] or
/// [`crate::Error::LimitReached`] for a file with too many bytes or rows; [`crate::Error::Invalid`] for a file that is
/// not a table, a wrong mapping, or if no column fills the title.
pub async fn begin(ledger: &Ledger, scope: &Scope, type_id: EntityTypeId, new: NewImport) -> Result<ImportRecord> {
    require(scope, Permission::WriteEntities)?;
    let entity_type = entity_type::get(ledger, scope, type_id).await?;
    let file = file::read(&new.source)?;
    let columns = columns_of(&file.header, &entity_type, &new)?;
    let now = ledger.now();
    let import = ImportRecord {
        tenant_id: scope.tenant_id,
        id: ImportId::new(now, ledger.entropy()),
        type_id,
        status: ImportStatus::Running,
        columns,
        rows_total: file.rows.len() as u64,
        next_row: 0,
        created_count: 0,
        failed_count: 0,
        errors: Vec::new(),
        actor: scope.caller.to_string(),
        created_at: now,
        updated_at: now,
    };
    ledger
        .store()
        .write(scope.into(), move |tx| {
            Box::pin(async move {
                store::entity::import::insert(tx, &import, &new.source).await?;
                Ok(import)
            })
        })
        .await
}
