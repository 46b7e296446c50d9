//! Erasing the content of an entity. What is left is its tombstone.

use super::get_on;
use crate::{
    EntityRecord, Error, Ledger, Result,
    audit::Act,
    guard::{require_for, require_version},
};
use domain::{
    Scope, Timestamp,
    audit::{Kind, TargetKind},
    id::{EntityId, TenantId},
    role::Permission,
};
use store::{Access, WriteTx};

/// Erases the title and the values of an entity and of all its versions, and the name of a lead at the questions that
/// they answered. It cannot be undone. Returns the tombstone: id, type, number of versions, and who erased it when. An
/// entity that is erased already does not change.
///
/// # Errors
/// [`crate::Error::NotFound`] if the workspace has no such entity; [`crate::Error::Forbidden`] for others than admins.
pub async fn erase(ledger: &Ledger, scope: &Scope, id: EntityId) -> Result<EntityRecord> {
    require_erasing(scope)?;
    let (entity, _) = erase_one(ledger, scope, id, None).await?;
    ledger.store().empty_wal().await;
    Ok(entity)
}

/// Refuses everyone but admins.
pub(super) fn require_erasing(scope: &Scope) -> Result<()> {
    require_for(scope, Permission::Administer, "only admins can erase entities")
}

/// Erases one entity in a transaction, if `version` is its newest or absent. Returns the tombstone, and whether there
/// was something to erase. The caller empties the write-ahead log afterwards.
pub(super) async fn erase_one(
    ledger: &Ledger,
    scope: &Scope,
    id: EntityId,
    version: Option<u64>,
) -> Result<(EntityRecord, bool)> {
    let (tenant_id, by, now) = (scope.tenant_id, scope.caller.to_string(), ledger.now());
    let erased = Act::new(Kind::EntityErased, scope.caller, now).on(TargetKind::Entity, id.0);
    let written = ledger.write(Access::Retention, async move |tx| {
        let found = store::entity::find_locked(tx, tenant_id, id).await?.ok_or(Error::NotFound("entity"))?;
        if let Some(version) = version {
            require_version(version, found.version)?;
        }
        let is_new = erase_on(tx, tenant_id, id, (&by, now)).await?;
        let entity = get_on(tx.conn(), tenant_id, id).await?;
        if is_new {
            erased.record(tx, tenant_id).await?;
        }
        Ok((entity, is_new))
    });
    written.await
}

/// [`erase`] in an open transaction, which runs with [`Access::Retention`]. Returns whether there was something to
/// erase. The caller empties the write-ahead log afterwards.
pub(crate) async fn erase_on(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: EntityId,
    (by, now): (&str, Timestamp),
) -> Result<bool> {
    Ok(store::entity::erase(tx, tenant_id, id, (by, now)).await?)
}
