//! Rows of `criteria_sets` and `criteria_set_versions`. A write of a set is always a new version of it.

use crate::{
    engine::{Conn, Error, Page, Result, is_free, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    criteria_set::Dimension,
    id::{CriteriaSetId, TenantId},
};
use uuid::Uuid;

macro_rules! set_select {
    ($rest:literal) => {
        concat!(
            "SELECT s.id, s.slug, v.name, v.description, v.dimensions, v.version, s.version AS newest_version, \
             s.created_by, v.actor AS updated_by, s.created_at, v.at AS updated_at FROM criteria_sets s \
             JOIN criteria_set_versions v ON v.tenant_id = s.tenant_id AND v.set_id = s.id WHERE s.tenant_id = $1 AND ",
            $rest
        )
    };
}

statements! {
    const BY_ID: &str = set_select!("s.id = $2 AND v.version = s.version");
    const LOCK_POSTGRES: &str = "SELECT id FROM criteria_sets WHERE tenant_id = $1 AND id = $2 FOR UPDATE";
    const BY_SLUG: &str = set_select!("s.slug = $2 AND v.version = s.version");
    const BY_VERSION: &str = set_select!("s.id = $2 AND v.version = $3");
    const VERSIONS: &str = set_select!("s.id = $2 AND (v.version < $3 OR $3 IS NULL) ORDER BY v.version DESC LIMIT $4");
    const LIST: &str = set_select!("v.version = s.version AND (s.id < $2 OR $2 IS NULL) ORDER BY s.id DESC LIMIT $3");
    const INSERT: &str = "INSERT INTO criteria_sets (tenant_id, id, slug, version, created_by, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6)";
    const UPDATE: &str = "UPDATE criteria_sets SET version = $3 WHERE tenant_id = $1 AND id = $2";
    const INSERT_VERSION: &str = "INSERT INTO criteria_set_versions (tenant_id, set_id, version, name, description, dimensions, actor, at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
}

record! {
    /// The criteria by which outputs are evaluated, at one version.
    #[derive(Debug, Clone, PartialEq)]
    pub struct CriteriaSetRecord of "criteria_sets" {
        /// Identifies the criteria set.
        pub id: CriteriaSetId,
        /// Name in URLs; never changes.
        pub slug: String,
        /// Display name.
        pub name: String,
        /// Purpose of the set, for people.
        pub description: String,
        /// The criteria, in the order of evaluation.
        pub dimensions: Vec<Dimension>,
        /// Number of this version; the first is 1.
        pub version: u64,
        /// Number of the set's newest version.
        pub newest_version: u64,
        /// Who made the set.
        pub created_by: String,
        /// Who wrote this version.
        pub updated_by: String,
        /// Time the set was made (UTC).
        pub created_at: Timestamp,
        /// Time this version was written (UTC).
        pub updated_at: Timestamp,
    }
}

/// A criteria set of this workspace at its newest version.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: CriteriaSetId) -> Result<Option<CriteriaSetRecord>> {
    Ok(run!(conn, fetch_optional CriteriaSetRecord, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: CriteriaSetId,
) -> Result<Option<CriteriaSetRecord>> {
    if matches!(tx.conn(), Conn::Postgres(_)) {
        // Two statements: one that waited for the lock would join the new row with versions from before the wait.
        run!(tx.conn(), fetch_optional(Uuid,), LOCK_POSTGRES, tenant_id.0, id.0)?;
    }
    find(tx.conn(), tenant_id, id).await
}

/// The criteria set of this workspace with this slug, at its newest version.
pub async fn find_by_slug(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<Option<CriteriaSetRecord>> {
    Ok(run!(conn, fetch_optional CriteriaSetRecord, BY_SLUG, tenant_id.0, slug)?)
}

/// A criteria set of this workspace as it was at a version.
pub async fn find_version(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: CriteriaSetId,
    version: u64,
) -> Result<Option<CriteriaSetRecord>> {
    Ok(run!(conn, fetch_optional CriteriaSetRecord, BY_VERSION, tenant_id.0, id.0, version.cast_signed())?)
}

/// One page of a set's versions, newest first, starting after `before`.
pub async fn versions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: CriteriaSetId,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<CriteriaSetRecord>> {
    let before = before.map(u64::cast_signed);
    Ok(Page::of(
        run!(conn, fetch_all CriteriaSetRecord, VERSIONS, tenant_id.0, id.0, before, i64::from(limit) + 1)?,
        limit,
    ))
}

/// One page at their newest versions, newest set first, starting after `before`.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    before: Option<CriteriaSetId>,
    limit: u32,
) -> Result<Page<CriteriaSetRecord>> {
    Ok(Page::of(
        run!(conn, fetch_all CriteriaSetRecord, LIST, tenant_id.0, before.map(|id| id.0), i64::from(limit) + 1)?,
        limit,
    ))
}

/// Adds a criteria set with its first version. `false` when its slug is taken.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &CriteriaSetRecord) -> Result<bool> {
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        record.id.0,
        record.slug.as_str(),
        record.version.cast_signed(),
        record.created_by.as_str(),
        to_micros(record.created_at),
    );
    if !is_free(inserted)? {
        return Ok(false);
    }
    insert_version(tx, tenant_id, record).await?;
    Ok(true)
}

/// Adds a version and makes it the newest; the caller holds the set's lock.
pub async fn update(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &CriteriaSetRecord) -> Result<()> {
    insert_version(tx, tenant_id, record).await?;
    run!(tx.conn(), execute, UPDATE, tenant_id.0, record.id.0, record.version.cast_signed())?;
    Ok(())
}

async fn insert_version(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &CriteriaSetRecord) -> Result<()> {
    let dimensions = serde_json::to_string(&record.dimensions).map_err(|error| Error::Database(error.to_string()))?;
    run!(
        tx.conn(),
        execute,
        INSERT_VERSION,
        tenant_id.0,
        record.id.0,
        record.version.cast_signed(),
        record.name.as_str(),
        record.description.as_str(),
        dimensions.as_str(),
        record.updated_by.as_str(),
        to_micros(record.updated_at),
    )?;
    Ok(())
}
