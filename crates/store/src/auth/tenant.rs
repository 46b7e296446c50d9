//! Rows of `tenants`.

use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::{Timestamp, clock::to_micros, id::TenantId, limit::UNDO_SECONDS_DEFAULT};
use uuid::Uuid;

statements! {
    const INSERT: &str = "INSERT INTO tenants (id, slug, name, created_at) VALUES ($1, $2, $3, $4)";
    const BY_SLUG: &str = "SELECT id, slug, name FROM tenants WHERE slug = $1";
    const BY_ID: &str = "SELECT id, slug, name FROM tenants WHERE id = $1";
    const UNDO_SECONDS: &str = "SELECT undo_seconds FROM tenants WHERE id = $1";
    const SET_UNDO_SECONDS: &str = "UPDATE tenants SET undo_seconds = $2 WHERE id = $1";
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantRecord {
    /// Identifies the workspace; never changes.
    pub id: TenantId,
    /// Name in URLs, unique in the installation.
    pub slug: String,
    /// Display name.
    pub name: String,
}

fn record((id, slug, name): (Uuid, String, String)) -> TenantRecord {
    TenantRecord { id: TenantId(id), slug, name }
}

/// Adds a workspace.
pub async fn insert(tx: &mut WriteTx<'_>, tenant: &TenantRecord, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, INSERT, tenant.id.0, tenant.slug.as_str(), tenant.name.as_str(), to_micros(at))?;
    Ok(())
}

/// The workspace with this slug.
pub async fn find_by_slug(conn: &mut Conn<'_>, slug: &str) -> Result<Option<TenantRecord>> {
    Ok(run!(conn, fetch_optional(Uuid, String, String), BY_SLUG, slug)?.map(record))
}

/// The workspace with this id.
pub async fn find(conn: &mut Conn<'_>, id: TenantId) -> Result<Option<TenantRecord>> {
    Ok(run!(conn, fetch_optional(Uuid, String, String), BY_ID, id.0)?.map(record))
}

/// How long decisions of this workspace can be undone, in seconds.
pub async fn undo_seconds(conn: &mut Conn<'_>, id: TenantId) -> Result<u32> {
    type One = (i64,);
    let row = run!(conn, fetch_optional One, UNDO_SECONDS, id.0)?;
    Ok(row.and_then(|(seconds,)| u32::try_from(seconds).ok()).unwrap_or(UNDO_SECONDS_DEFAULT))
}

/// Sets how long decisions of this workspace can be undone, in seconds.
pub async fn set_undo_seconds(tx: &mut WriteTx<'_>, id: TenantId, seconds: u32) -> Result<()> {
    run!(tx.conn(), execute, SET_UNDO_SECONDS, id.0, i64::from(seconds))?;
    Ok(())
}
