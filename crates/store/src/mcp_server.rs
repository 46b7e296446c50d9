//! Rows of `mcp_servers`: MCP servers whose tools a workspace calls, with the tools that they listed last.

use crate::{
    engine::{Conn, Error, Page, Result, is_free, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{McpServerId, TenantId},
    mcp::{Definition, Listing},
};

macro_rules! server_select {
    ($rest:literal) => {
        concat!(
            "SELECT id, slug, definition, revision, listed_at, tool_count, created_by, updated_by, created_at, \
             updated_at FROM mcp_servers WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}

statements! {
    const BY_SLUG: &str = server_select!("slug = $2");
    const BY_SLUG_LOCKED_POSTGRES: &str = server_select!("slug = $2 FOR UPDATE");
    const LIST: &str = server_select!("(id < $2 OR $2 IS NULL) ORDER BY id DESC LIMIT $3");
    const LISTING: &str = "SELECT listing, listed_at FROM mcp_servers WHERE tenant_id = $1 AND id = $2";
    const SEALED: &str = "SELECT sealed FROM mcp_servers WHERE tenant_id = $1 AND id = $2";
    const INSERT: &str = "INSERT INTO mcp_servers (tenant_id, id, slug, definition, sealed, revision, created_by, \
         updated_by, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    const UPDATE: &str = "UPDATE mcp_servers SET definition = $3, sealed = $4, revision = $5, updated_by = $6, \
         updated_at = $7 WHERE tenant_id = $1 AND id = $2";
    const SET_LISTING: &str = "UPDATE mcp_servers SET listing = $3, listed_at = $4, tool_count = $5 \
         WHERE tenant_id = $1 AND id = $2";
    const DELETE: &str = "DELETE FROM mcp_servers WHERE tenant_id = $1 AND id = $2";
}

record! {
    /// An MCP server without the tools that it listed and without the values of its secret headers.
    #[derive(Debug, Clone, PartialEq)]
    pub struct McpServerRecord of "mcp_servers" {
        /// Identifies the server.
        pub id: McpServerId,
        /// Name in URLs and in definitions of tools; never changes.
        pub slug: String,
        /// How the server is reached.
        pub definition: Definition,
        /// Number of this definition: 1 at first, one more with each change.
        pub revision: u64,
        /// Time its tools were listed last (UTC); `None` before that.
        pub listed_at: Option<Timestamp>,
        /// Number of its listed tools that can be imported; `None` before they were listed.
        pub tool_count: Option<u64>,
        /// Who added the server: `user:…`, `token:…` or `system`.
        pub created_by: String,
        /// Who changed the definition last.
        pub updated_by: String,
        /// Time the server was added (UTC).
        pub created_at: Timestamp,
        /// Time of the last change of the definition (UTC).
        pub updated_at: Timestamp,
    }
}

record! {
    /// The tools that an MCP server listed last.
    #[derive(Debug, Clone, PartialEq)]
    pub struct McpListingRecord of "mcp_servers" {
        /// The tools; `None` before they were listed.
        pub listing: Option<Listing>,
        /// Time they were listed (UTC).
        pub listed_at: Option<Timestamp>,
    }
}

type Sealed = (Option<Vec<u8>>,);

fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Database(error.to_string()))
}

/// The MCP server of this workspace with this slug.
pub async fn find_by_slug(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<Option<McpServerRecord>> {
    Ok(run!(conn, fetch_optional McpServerRecord, BY_SLUG, tenant_id.0, slug)?)
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, slug: &str) -> Result<Option<McpServerRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_SLUG } else { BY_SLUG_LOCKED_POSTGRES };
    Ok(run!(tx.conn(), fetch_optional McpServerRecord, sql, tenant_id.0, slug)?)
}

/// One page of MCP servers, newest first, starting after `before`.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    before: Option<McpServerId>,
    limit: u32,
) -> Result<Page<McpServerRecord>> {
    let before = before.map(|id| id.0);
    let rows = run!(conn, fetch_all McpServerRecord, LIST, tenant_id.0, before, i64::from(limit) + 1)?;
    Ok(Page::of(rows, limit))
}

/// The tools that an MCP server listed last; `None` if there is no such server.
pub async fn listing(conn: &mut Conn<'_>, tenant_id: TenantId, id: McpServerId) -> Result<Option<McpListingRecord>> {
    Ok(run!(conn, fetch_optional McpListingRecord, LISTING, tenant_id.0, id.0)?)
}

/// The encrypted values of the secret headers of an MCP server; `None` if it has none.
pub async fn sealed(conn: &mut Conn<'_>, tenant_id: TenantId, id: McpServerId) -> Result<Option<Vec<u8>>> {
    Ok(run!(conn, fetch_optional Sealed, SEALED, tenant_id.0, id.0)?.and_then(|(sealed,)| sealed))
}

/// Adds an MCP server. `false` when its slug is taken.
pub async fn insert(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    record: &McpServerRecord,
    sealed: Option<&[u8]>,
) -> Result<bool> {
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        record.id.0,
        record.slug.as_str(),
        json(&record.definition)?.as_str(),
        sealed,
        record.revision.cast_signed(),
        record.created_by.as_str(),
        record.updated_by.as_str(),
        to_micros(record.created_at),
        to_micros(record.updated_at),
    );
    is_free(inserted)
}

/// Writes the definition and the encrypted headers of an MCP server; the caller holds its lock.
pub async fn update(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    record: &McpServerRecord,
    sealed: Option<&[u8]>,
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        UPDATE,
        tenant_id.0,
        record.id.0,
        json(&record.definition)?.as_str(),
        sealed,
        record.revision.cast_signed(),
        record.updated_by.as_str(),
        to_micros(record.updated_at),
    )?;
    Ok(())
}

/// Writes the tools that an MCP server listed; the caller holds its lock.
pub async fn set_listing(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: McpServerId,
    listing: &Listing,
    at: Timestamp,
) -> Result<()> {
    let count = i64::try_from(listing.tools.len()).unwrap_or(i64::MAX);
    run!(tx.conn(), execute, SET_LISTING, tenant_id.0, id.0, json(listing)?.as_str(), to_micros(at), count)?;
    Ok(())
}

/// Deletes an MCP server with its headers and listed tools; the caller holds its lock.
pub async fn delete(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: McpServerId) -> Result<()> {
    run!(tx.conn(), execute, DELETE, tenant_id.0, id.0)?;
    Ok(())
}
