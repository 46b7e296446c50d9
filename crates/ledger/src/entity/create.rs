//! Creating an entity.

use super::{check_relations, refuse_wrong};
use crate::{EntityRecord, Error, Ledger, Result, guard::require};
use domain::{
    Scope,
    entity::{Values, apply},
    id::{EntityId, EntityTypeId},
    role::Permission,
};

/// What an entity is made of.
#[derive(Debug, Clone)]
pub struct NewEntity {
    /// A type of the workspace.
    pub type_id: EntityTypeId,
    /// 1 to 300 characters on one line.
    pub title: String,
    /// Values by field slug.
    pub fields: Values,
}

/// Creates an entity at version 1.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewEntity) -> Result<EntityRecord> {
    require(scope, Permission::WriteEntities)?;
    let now = ledger.now();
    let id = EntityId::new(now, ledger.entropy());
    let (tenant_id, actor) = (scope.tenant_id, scope.caller.to_string());
    ledger
        .store()
        .write(scope.into(), move |tx| {
            Box::pin(async move {
                let entity_type = store::entity_type::find(tx.conn(), tenant_id, new.type_id).await?;
                let entity_type = entity_type.ok_or(Error::NotFound("entity type"))?;
                let values = apply(&entity_type.fields, &Values::new(), &new.fields);
                refuse_wrong(&new.title, values.as_ref().map_err(Clone::clone))?;
                let fields = values.unwrap_or_default();
                check_relations(tx.conn(), tenant_id, &entity_type.fields, &fields).await?;
                let entity = EntityRecord {
                    id,
                    type_id: entity_type.id,
                    type_slug: entity_type.slug,
                    title: new.title,
                    fields,
                    version: 1,
                    created_by: actor.clone(),
                    updated_by: actor,
                    created_at: now,
                    updated_at: now,
                };
                store::entity::insert(tx, tenant_id, std::slice::from_ref(&entity)).await?;
                Ok(entity)
            })
        })
        .await
}
