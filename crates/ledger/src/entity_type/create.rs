//! Creating an entity type.

use super::{check, check_relations};
use crate::{
    EntityTypeRecord, Error, Ledger, Result,
    guard::{require, slug_or_of_name},
};
use domain::{Scope, entity::FieldDef, id::EntityTypeId, role::Permission};

/// The fields of a new entity type.
#[derive(Debug, Clone, Default)]
pub struct NewEntityType {
    /// 1 to 200 characters, e.g. `Company`.
    pub name: String,
    /// Derived from the name when `None`. It never changes, because URLs contain it.
    pub slug: Option<String>,
    /// In the order of display.
    pub fields: Vec<FieldDef>,
}

/// Creates an entity type at version 1.
///
/// # Errors
/// [`Error::NameTaken`] if the slug is taken; [`Error::Invalid`] for wrong fields.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewEntityType) -> Result<EntityTypeRecord> {
    require(scope, Permission::ManageEntityTypes)?;
    let slug = slug_or_of_name(new.slug, &new.name)?;
    let now = ledger.now();
    let record = EntityTypeRecord {
        id: EntityTypeId::new(now, ledger.entropy()),
        slug,
        name: new.name,
        fields: new.fields,
        version: 1,
        created_by: scope.caller.to_string(),
        created_at: now,
        updated_at: now,
    };
    check(&record)?;
    let tenant_id = scope.tenant_id;
    ledger
        .write(scope.into(), async move |tx| {
            check_relations(tx.conn(), tenant_id, &record).await?;
            if !store::entity_type::insert(tx, tenant_id, &record).await? {
                return Err(Error::NameTaken("the slug"));
            }
            Ok(record)
        })
        .await
}
