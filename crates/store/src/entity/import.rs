//! Rows of `entity_imports`: CSV imports and their files.

use crate::{
    action::Creation,
    engine::{Conn, Error, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    entity::{Column, ImportStatus, RowError},
    id::{EntityTypeId, ImportId, TenantId},
};
use uuid::Uuid;

macro_rules! import_select {
    ($rest:literal) => {
        concat!(
            "SELECT tenant_id, id, type_id, status, mapping AS columns, rows_total, next_row, created_count, failed_count, errors, \
             actor, created_at, updated_at FROM entity_imports WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}

statements! {
    const BY_ID: &str = import_select!("id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = import_select!("id = $2 FOR UPDATE");
    const SOURCE: &str = "SELECT source FROM entity_imports WHERE tenant_id = $1 AND id = $2";
    const INSERT: &str = "INSERT INTO entity_imports (tenant_id, id, type_id, status, source, mapping, rows_total, next_row, \
         created_count, failed_count, errors, actor, created_at, updated_at, creation_key, creation_digest) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) \
         ON CONFLICT (tenant_id, creation_key) WHERE creation_key IS NOT NULL DO NOTHING";
    const BY_CREATION_KEY: &str = import_select!("creation_key = $2");
    const CREATION_DIGEST: &str =
        "SELECT creation_digest FROM entity_imports WHERE tenant_id = $1 AND creation_key = $2";
    // The file of a finished import is deleted.
    const SAVE: &str = "UPDATE entity_imports SET status = $3, next_row = $4, created_count = $5, failed_count = $6, errors = $7, \
         updated_at = $8, source = CASE WHEN $3 = 'running' THEN source ELSE '' END WHERE tenant_id = $1 AND id = $2";
    const STALLED: &str = "SELECT tenant_id, id FROM entity_imports WHERE status = 'running' AND updated_at < $1 \
         ORDER BY updated_at LIMIT $2";
}

record! {
    /// A CSV import and its progress, without the file.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ImportRecord of "entity_imports" {
        /// Workspace in which the entities are created.
        pub tenant_id: TenantId,
        /// Identifies the import.
        pub id: ImportId,
        /// The type of the entities that the import creates.
        pub type_id: EntityTypeId,
        /// Whether the import is running, completed or failed.
        pub status: ImportStatus,
        /// The field that each column of the file fills.
        pub columns: Vec<Column>,
        /// Rows in the file, without the header.
        pub rows_total: u64,
        /// Rows processed so far, from the top of the file.
        pub next_row: u64,
        /// Entities created so far.
        pub created_count: u64,
        /// Rows refused so far.
        pub failed_count: u64,
        /// Errors of refused rows. Only a bounded number is kept.
        pub errors: Vec<RowError>,
        /// Who started the import.
        pub actor: String,
        /// Time the import was started (UTC).
        pub created_at: Timestamp,
        /// Time of the last progress (UTC).
        pub updated_at: Timestamp,
    }
}

/// A row of one column. Written out, the formatter would take the tuple for a call's arguments.
type One<T> = (T,);
type Two<A, B> = (A, B);

/// An import of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: ImportId) -> Result<Option<ImportRecord>> {
    Ok(run!(conn, fetch_optional ImportRecord, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ImportId) -> Result<Option<ImportRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    Ok(run!(tx.conn(), fetch_optional ImportRecord, sql, tenant_id.0, id.0)?)
}

/// The file of an import; empty once it has finished.
pub async fn source(conn: &mut Conn<'_>, tenant_id: TenantId, id: ImportId) -> Result<Option<String>> {
    Ok(run!(conn, fetch_optional One<String>, SOURCE, tenant_id.0, id.0)?.map(|(source,)| source))
}

/// The import that the request with this key started, and the digest of that request.
pub async fn find_created(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    key: &str,
) -> Result<Option<(ImportRecord, Vec<u8>)>> {
    let Some(import) = run!(conn, fetch_optional ImportRecord, BY_CREATION_KEY, tenant_id.0, key)? else {
        return Ok(None);
    };
    let digest = run!(conn, fetch_optional One<Option<Vec<u8>>>, CREATION_DIGEST, tenant_id.0, key)?;
    Ok(Some((import, digest.and_then(|(digest,)| digest).unwrap_or_default())))
}

/// Adds an import with its file. `false` when a request with the key of `creation` has started one. A request that is
/// not committed yet is waited for.
pub async fn insert(
    tx: &mut WriteTx<'_>,
    import: &ImportRecord,
    source: &str,
    creation: Option<&Creation>,
) -> Result<bool> {
    let json = |error: serde_json::Error| Error::Database(error.to_string());
    let mapping = serde_json::to_string(&import.columns).map_err(json)?;
    let errors = serde_json::to_string(&import.errors).map_err(json)?;
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        import.tenant_id.0,
        import.id.0,
        import.type_id.0,
        import.status.as_str(),
        source,
        mapping.as_str(),
        import.rows_total.cast_signed(),
        import.next_row.cast_signed(),
        import.created_count.cast_signed(),
        import.failed_count.cast_signed(),
        errors.as_str(),
        import.actor.as_str(),
        to_micros(import.created_at),
        to_micros(import.updated_at),
        creation.map(|creation| creation.key.as_str()),
        creation.map(|creation| &creation.digest[..]),
    )?;
    Ok(inserted == 1)
}

/// Saves the progress of an import. The caller holds the lock of its row.
pub async fn save(tx: &mut WriteTx<'_>, import: &ImportRecord) -> Result<()> {
    let errors = serde_json::to_string(&import.errors).map_err(|error| Error::Database(error.to_string()))?;
    run!(
        tx.conn(),
        execute,
        SAVE,
        import.tenant_id.0,
        import.id.0,
        import.status.as_str(),
        import.next_row.cast_signed(),
        import.created_count.cast_signed(),
        import.failed_count.cast_signed(),
        errors.as_str(),
        to_micros(import.updated_at),
    )?;
    Ok(())
}

/// Running imports of every workspace without progress since `before`, the longest stalled first.
pub async fn stalled(conn: &mut Conn<'_>, before: Timestamp, max: u32) -> Result<Vec<(TenantId, ImportId)>> {
    let rows = run!(conn, fetch_all Two<Uuid, Uuid>, STALLED, to_micros(before), i64::from(max))?;
    Ok(rows.into_iter().map(|(tenant, id)| (TenantId(tenant), ImportId(id))).collect())
}
