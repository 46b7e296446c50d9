//! Rows of `entity_types`.

use crate::{
    engine::{Conn, Error, Page, Result, is_free, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    entity::FieldDef,
    id::{EntityTypeId, TenantId},
};

macro_rules! type_select {
    ($rest:literal) => {
        concat!(
            "SELECT id, slug, name, fields, version, created_by, created_at, updated_at FROM entity_types \
             WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}

statements! {
    const BY_ID: &str = type_select!("id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = type_select!("id = $2 FOR UPDATE");
    const BY_SLUG: &str = type_select!("slug = $2");
    const LIST: &str = type_select!("(id < $2 OR $2 IS NULL) ORDER BY id DESC LIMIT $3");
    const INSERT: &str = "INSERT INTO entity_types (tenant_id, id, slug, name, fields, version, created_by, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    const UPDATE: &str = "UPDATE entity_types SET name = $3, fields = $4, version = $5, updated_at = $6 \
         WHERE tenant_id = $1 AND id = $2";
}

record! {
    /// A type of entities, with the definitions of its fields.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct EntityTypeRecord of "entity_types" {
        /// Identifies the type.
        pub id: EntityTypeId,
        /// Name in URLs; never changes.
        pub slug: String,
        /// Display name of one entity.
        pub name: String,
        /// Field definitions, in the order of display.
        pub fields: Vec<FieldDef>,
        /// Version number: 1 at first, one more with each change.
        pub version: u64,
        /// Who made the type: `user:…`, `token:…` or `system`.
        pub created_by: String,
        /// Time the type was made (UTC).
        pub created_at: Timestamp,
        /// Time of the last change (UTC).
        pub updated_at: Timestamp,
    }
}

/// An entity type of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: EntityTypeId) -> Result<Option<EntityTypeRecord>> {
    Ok(run!(conn, fetch_optional EntityTypeRecord, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: EntityTypeId,
) -> Result<Option<EntityTypeRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    Ok(run!(tx.conn(), fetch_optional EntityTypeRecord, sql, tenant_id.0, id.0)?)
}

/// The entity type of this workspace with this slug.
pub async fn find_by_slug(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<Option<EntityTypeRecord>> {
    Ok(run!(conn, fetch_optional EntityTypeRecord, BY_SLUG, tenant_id.0, slug)?)
}

/// One page of entity types, newest first. With `before`, only older ones.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    before: Option<EntityTypeId>,
    limit: u32,
) -> Result<Page<EntityTypeRecord>> {
    let rows = run!(conn, fetch_all EntityTypeRecord, LIST, tenant_id.0, before.map(|id| id.0), i64::from(limit) + 1)?;
    Ok(Page::of(rows, limit))
}

fn fields_json(record: &EntityTypeRecord) -> Result<String> {
    serde_json::to_string(&record.fields).map_err(|error| Error::Database(error.to_string()))
}

/// Adds an entity type. `false` when its slug is taken.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &EntityTypeRecord) -> Result<bool> {
    let fields = fields_json(record)?;
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        record.id.0,
        record.slug.as_str(),
        record.name.as_str(),
        fields.as_str(),
        record.version.cast_signed(),
        record.created_by.as_str(),
        to_micros(record.created_at),
        to_micros(record.updated_at),
    );
    is_free(inserted)
}

/// Writes a changed entity type; the caller holds its row's lock.
pub async fn update(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &EntityTypeRecord) -> Result<()> {
    let fields = fields_json(record)?;
    run!(
        tx.conn(),
        execute,
        UPDATE,
        tenant_id.0,
        record.id.0,
        record.name.as_str(),
        fields.as_str(),
        record.version.cast_signed(),
        to_micros(record.updated_at),
    )?;
    Ok(())
}
