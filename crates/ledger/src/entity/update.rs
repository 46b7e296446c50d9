//! Changing an entity.

use super::{checked, writable};
use crate::{
    EntityRecord, Error, Ledger, Result,
    guard::{require, require_version},
};
use domain::{
    Scope, Timestamp,
    entity::Values,
    id::{EntityId, SessionId, TenantId},
    role::Permission,
};
use store::WriteTx;

/// A change of an entity. Absent fields keep their value.
#[derive(Debug, Clone, Default)]
pub struct EntityChange {
    /// The version that the caller read.
    pub version: u64,
    /// 1 to 300 characters on one line.
    pub title: Option<String>,
    /// Values by field slug; `null` clears one.
    pub fields: Values,
}

/// Writes the next version of an entity. If nothing differs, no version is written.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such entity; [`Error::StaleVersion`] if a version was written since the
/// caller read the entity; [`Error::EntityErased`] if it is erased; [`Error::Invalid`] for a wrong title or wrong
/// values.
pub async fn update(ledger: &Ledger, scope: &Scope, id: EntityId, change: EntityChange) -> Result<EntityRecord> {
    update_in(ledger, scope, id, change, None).await
}

/// Does the same as [`update`] for an agent that works on `session_id`. The entity's version records that
/// session.
///
/// # Errors
/// Those of [`update`].
pub async fn update_in(
    ledger: &Ledger,
    scope: &Scope,
    id: EntityId,
    change: EntityChange,
    session_id: Option<SessionId>,
) -> Result<EntityRecord> {
    require(scope, Permission::WriteEntities)?;
    let author = Author { actor: scope.caller.to_string(), session_id, at: ledger.now() };
    let tenant_id = scope.tenant_id;
    ledger.write(scope.into(), async move |tx| write(tx, tenant_id, id, change, author).await).await
}

/// The author and time of a version.
struct Author {
    actor: String,
    session_id: Option<SessionId>,
    at: Timestamp,
}

async fn write(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: EntityId,
    change: EntityChange,
    author: Author,
) -> Result<EntityRecord> {
    let before = writable(tx, tenant_id, id).await?;
    require_version(change.version, before.version)?;
    let entity_type = store::entity_type::find(tx.conn(), tenant_id, before.type_id).await?;
    let entity_type = entity_type.ok_or(Error::NotFound("entity type"))?;
    let title = change.title.unwrap_or_else(|| before.title.clone());
    let defs = &entity_type.fields;
    let new_title = Some(title.as_str()).filter(|title| *title != before.title);
    let fields = checked(tx.conn(), tenant_id, defs, &before.fields, new_title, &change.fields).await?;
    if title == before.title && fields == before.fields {
        return Ok(before);
    }
    let entity = EntityRecord {
        title,
        fields,
        version: before.version + 1,
        updated_by: author.actor,
        updated_at: author.at,
        ..before
    };
    store::entity::update(tx, tenant_id, &entity, author.session_id).await?;
    Ok(entity)
}
