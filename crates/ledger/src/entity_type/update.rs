//! Changing an entity type.

use super::{check, check_relations};
use crate::{
    EntityTypeRecord, Error, Ledger, Result,
    guard::{require, require_version},
};
use domain::{Scope, entity::FieldDef, id::EntityTypeId, role::Permission};

/// A change of an entity type. Fields that are `None` keep their value.
#[derive(Debug, Clone, Default)]
pub struct EntityTypeChange {
    /// The version that the caller read.
    pub version: u64,
    /// 1 to 200 characters.
    pub name: Option<String>,
    /// All fields, in the order of display.
    pub fields: Option<Vec<FieldDef>>,
}

/// Changes an entity type. Existing entities keep their values, which are checked when the entity is next
/// written.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such type; [`Error::StaleVersion`] if it was changed since the caller
/// read it; [`Error::Invalid`] for wrong fields and for relations to types that do not exist.
pub async fn update(
    ledger: &Ledger,
    scope: &Scope,
    id: EntityTypeId,
    change: EntityTypeChange,
) -> Result<EntityTypeRecord> {
    require(scope, Permission::ManageEntityTypes)?;
    let (tenant_id, now) = (scope.tenant_id, ledger.now());
    ledger
        .write(scope.into(), async move |tx| {
            let before = store::entity_type::find_locked(tx, tenant_id, id).await?;
            let before = before.ok_or(Error::NotFound("entity type"))?;
            require_version(change.version, before.version)?;
            let record = EntityTypeRecord {
                name: change.name.unwrap_or_else(|| before.name.clone()),
                fields: change.fields.unwrap_or_else(|| before.fields.clone()),
                version: before.version + 1,
                updated_at: now,
                ..before
            };
            check(&record)?;
            check_relations(tx.conn(), tenant_id, &record).await?;
            store::entity_type::update(tx, tenant_id, &record).await?;
            Ok(record)
        })
        .await
}
