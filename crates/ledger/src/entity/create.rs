//! Creating an entity.

use super::checked;
use crate::{EntityRecord, Error, Ledger, Result, guard::require};
use domain::{
    Scope, Timestamp,
    entity::Values,
    id::{EntityId, EntityTypeId, SessionId},
    role::Permission,
};
use store::WriteTx;

/// The fields of a new entity.
#[derive(Debug, Clone)]
pub struct NewEntity {
    /// Id of an entity type of the workspace.
    pub type_id: EntityTypeId,
    /// 1 to 300 characters on one line.
    pub title: String,
    /// Values by field slug.
    pub fields: Values,
}

/// Creates an entity at version 1.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such entity type; [`Error::Invalid`] for a wrong title or wrong values.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewEntity) -> Result<EntityRecord> {
    create_in(ledger, scope, new, None).await
}

/// Does the same as [`create`] for an agent that works on `session_id`. The entity's version records that
/// session.
///
/// # Errors
/// Those of [`create`].
pub async fn create_in(
    ledger: &Ledger,
    scope: &Scope,
    new: NewEntity,
    session_id: Option<SessionId>,
) -> Result<EntityRecord> {
    require(scope, Permission::WriteEntities)?;
    let now = ledger.now();
    let id = EntityId::new(now, ledger.entropy());
    let scope = *scope;
    ledger.write((&scope).into(), async move |tx| create_on(tx, &scope, (id, now), new, session_id).await).await
}

/// Creates an entity in a transaction that does more. The caller has checked the permission.
pub(crate) async fn create_on(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    (id, now): (EntityId, Timestamp),
    new: NewEntity,
    session_id: Option<SessionId>,
) -> Result<EntityRecord> {
    let (tenant_id, actor) = (scope.tenant_id, scope.caller.to_string());
    let entity_type = store::entity_type::find(tx.conn(), tenant_id, new.type_id).await?;
    let entity_type = entity_type.ok_or(Error::NotFound("entity type"))?;
    let (defs, none) = (&entity_type.fields, Values::new());
    let fields = checked(tx.conn(), tenant_id, defs, &none, Some(&new.title), &new.fields).await?;
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
        erased_at: None,
    };
    store::entity::insert(tx, tenant_id, std::slice::from_ref(&entity), session_id).await?;
    Ok(entity)
}
