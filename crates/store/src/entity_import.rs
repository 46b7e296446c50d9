//! Rows of `entity_imports`: CSV imports and their files.

use crate::{
    conn::{Conn, run},
    error::{Error, Result},
    record::ImportRecord,
    sqlite::row,
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    entity::ImportStatus,
    id::{EntityTypeId, ImportId, TenantId},
};
use uuid::Uuid;

macro_rules! import_select {
    ($rest:literal) => {
        concat!(
            "SELECT tenant_id, id, type_id, status, mapping, rows_total, next_row, created_count, failed_count, errors, \
             actor, created_at, updated_at FROM entity_imports WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}

const BY_ID: &str = import_select!("id = $2");
const BY_ID_LOCKED_POSTGRES: &str = import_select!("id = $2 FOR UPDATE");
const SOURCE: &str = "SELECT source FROM entity_imports WHERE tenant_id = $1 AND id = $2";
const INSERT: &str = "INSERT INTO entity_imports (tenant_id, id, type_id, status, source, mapping, rows_total, next_row, \
     created_count, failed_count, errors, actor, created_at, updated_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
// The file of a finished import is deleted.
const SAVE: &str = "UPDATE entity_imports SET status = $3, next_row = $4, created_count = $5, failed_count = $6, errors = $7, \
     updated_at = $8, source = CASE WHEN $3 = 'running' THEN source ELSE '' END WHERE tenant_id = $1 AND id = $2";
const STALLED: &str = "SELECT tenant_id, id FROM entity_imports WHERE status = 'running' AND updated_at < $1 \
     ORDER BY updated_at LIMIT $2";

pub(crate) const SQL: &[(&str, &str)] = &[
    ("entity_import::BY_ID", BY_ID),
    ("entity_import::SOURCE", SOURCE),
    ("entity_import::INSERT", INSERT),
    ("entity_import::SAVE", SAVE),
    ("entity_import::STALLED", STALLED),
];
pub(crate) const POSTGRES_SQL: &[(&str, &str)] = &[("entity_import::BY_ID_LOCKED_POSTGRES", BY_ID_LOCKED_POSTGRES)];

row! {
    struct Row {
        tenant_id: Uuid,
        id: Uuid,
        type_id: Uuid,
        status: String,
        mapping: String,
        rows_total: i64,
        next_row: i64,
        created_count: i64,
        failed_count: i64,
        errors: String,
        actor: String,
        created_at: i64,
        updated_at: i64,
    }
}

impl TryFrom<Row> for ImportRecord {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = |column, value: &dyn std::fmt::Debug| Error::inconsistent("entity_imports", column, value);
        let count = |column, value: i64| u64::try_from(value).map_err(|_| bad(column, &value));
        Ok(Self {
            tenant_id: TenantId(row.tenant_id),
            id: ImportId(row.id),
            type_id: EntityTypeId(row.type_id),
            status: ImportStatus::parse(&row.status).ok_or_else(|| bad("status", &row.status))?,
            columns: serde_json::from_str(&row.mapping).map_err(|_| bad("mapping", &row.mapping))?,
            rows_total: count("rows_total", row.rows_total)?,
            next_row: count("next_row", row.next_row)?,
            created_count: count("created_count", row.created_count)?,
            failed_count: count("failed_count", row.failed_count)?,
            errors: serde_json::from_str(&row.errors).map_err(|_| bad("errors", &row.errors))?,
            actor: row.actor,
            created_at: from_micros(row.created_at),
            updated_at: from_micros(row.updated_at),
        })
    }
}

/// A row of one column. Written out, the formatter would take the tuple for a call's arguments.
type One<T> = (T,);
type Two<A, B> = (A, B);

/// An import of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: ImportId) -> Result<Option<ImportRecord>> {
    run!(conn, fetch_optional Row, BY_ID, tenant_id.0, id.0)?.map(ImportRecord::try_from).transpose()
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ImportId) -> Result<Option<ImportRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    run!(tx.conn(), fetch_optional Row, sql, tenant_id.0, id.0)?.map(ImportRecord::try_from).transpose()
}

/// The file of an import; empty once it has finished.
pub async fn source(conn: &mut Conn<'_>, tenant_id: TenantId, id: ImportId) -> Result<Option<String>> {
    Ok(run!(conn, fetch_optional One<String>, SOURCE, tenant_id.0, id.0)?.map(|(source,)| source))
}

/// Adds an import with its file.
pub async fn insert(tx: &mut WriteTx<'_>, import: &ImportRecord, source: &str) -> Result<()> {
    let json = |error: serde_json::Error| Error::Database(error.to_string());
    let mapping = serde_json::to_string(&import.columns).map_err(json)?;
    let errors = serde_json::to_string(&import.errors).map_err(json)?;
    run!(
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
    )?;
    Ok(())
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
