//! Rows of `tools` (working copies), `tool_versions` (what was published), `tool_secrets`, and `tool_secret_versions`
//! (the versions whose calls get the secrets).

use crate::{
    engine::{Conn, Error, Page, Result, contains, is_free, record, run, statements},
    // `has` is made of the others, which are looked up where they are used.
    session::{Contains, group_values, groups, has, values},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{TenantId, ToolId},
    limit::{TOOL_SECRETS_MAX, TOOLS_LOOKED_MAX},
    tool::{Definition, State},
};

macro_rules! tool_select {
    ($rest:expr) => {
        concat!(
            "SELECT id, slug, definition, state, version, revision, published_revision, created_by, updated_by, \
             created_at, updated_at FROM tools WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}

macro_rules! version_select {
    ($rest:literal) => {
        concat!(
            "SELECT tool_id, version, definition, published_by, published_at FROM tool_versions \
             WHERE tenant_id = $1 AND tool_id = $2 AND ",
            $rest
        )
    };
}

/// A member of a definition. PostgreSQL refuses to read any member of a JSON with an escaped NUL, which a schema can
/// have. The NUL of an escaped backslash before `u0000` is none, and its replacement is valid too.
macro_rules! member {
    ($name:literal) => {
        concat!("CAST(replace(definition, '\\u0000', '\\ufffd') AS json) ->> '", $name, "'")
    };
}

/// A page of tools. `$name` and `$about` read the name and the description of a definition.
macro_rules! list_select {
    ($engine:ident, $name:expr, $about:expr) => {
        tool_select!(concat!(
            "(id < $2 OR $2 IS NULL)",
            has!($engine, $name, "$4", "$5"),
            has!($engine, concat!("slug || ' ' || ", $name, " || ' ' || ", $about), "$6", "$7"),
            " ORDER BY id DESC LIMIT $3"
        ))
    };
}

/// Finds published tools by slug and name. `$name` reads the name of a definition.
macro_rules! find_published {
    ($name:expr) => {
        concat!(
            "SELECT slug, name FROM (SELECT id, slug, ",
            $name,
            " AS name FROM tools WHERE tenant_id = $1 AND state = 'published' ORDER BY id DESC LIMIT $2) AS newest \
             WHERE lower(name) LIKE lower($3) ESCAPE '\\' OR slug LIKE lower($3) ESCAPE '\\' ORDER BY id DESC LIMIT $4"
        )
    };
}

/// Slugs and names of the newest tools. `$name` reads the name of a definition.
macro_rules! names {
    ($name:expr) => {
        concat!(
            "SELECT slug, COALESCE(",
            $name,
            ", slug) AS name FROM tools WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2"
        )
    };
}

statements! {
    const BY_ID: &str = tool_select!("id = $2");
    const BY_SLUG: &str = tool_select!("slug = $2");
    const BY_SLUG_LOCKED_POSTGRES: &str = tool_select!("slug = $2 FOR UPDATE");
    const LIST_SQLITE: &str = list_select!(
        sqlite,
        "COALESCE(json_extract(definition, '$.name'), '')",
        "COALESCE(json_extract(definition, '$.description'), '')"
    );
    const LIST_POSTGRES: &str = list_select!(
        postgres,
        concat!("COALESCE(", member!("name"), ", '')"),
        concat!("COALESCE(", member!("description"), ", '')")
    );
    const FIND_PUBLISHED_SQLITE: &str = find_published!("json_extract(definition, '$.name')");
    const FIND_PUBLISHED_POSTGRES: &str = find_published!(member!("name"));
    const NAMES_SQLITE: &str = names!("json_extract(definition, '$.name')");
    const NAMES_POSTGRES: &str = names!(member!("name"));
    const INSERT: &str = "INSERT INTO tools (tenant_id, id, slug, definition, state, version, revision, published_revision, \
         created_by, updated_by, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    const UPDATE: &str = "UPDATE tools SET definition = $3, state = $4, version = $5, revision = $6, \
         published_revision = $7, updated_by = $8, updated_at = $9 WHERE tenant_id = $1 AND id = $2";
    const DELETE: &str = "DELETE FROM tools WHERE tenant_id = $1 AND id = $2";
    const BY_VERSION: &str = version_select!("version = $3");
    const VERSIONS: &str = version_select!("(version < $3 OR $3 IS NULL) ORDER BY version DESC LIMIT $4");
    const INSERT_VERSION: &str = "INSERT INTO tool_versions (tenant_id, tool_id, version, definition, published_by, \
         published_at) VALUES ($1, $2, $3, $4, $5, $6)";
    const SECRET_NAMES: &str =
        "SELECT name, set_by, set_at FROM tool_secrets WHERE tenant_id = $1 AND tool_id = $2 ORDER BY name LIMIT $3";
    const SEALED_SECRETS: &str =
        "SELECT name, sealed FROM tool_secrets WHERE tenant_id = $1 AND tool_id = $2 ORDER BY name LIMIT $3";
    const SET_SECRET: &str = "INSERT INTO tool_secrets (tenant_id, tool_id, name, sealed, set_by, set_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, tool_id, name) \
         DO UPDATE SET sealed = excluded.sealed, set_by = excluded.set_by, set_at = excluded.set_at";
    const DELETE_SECRET: &str = "DELETE FROM tool_secrets WHERE tenant_id = $1 AND tool_id = $2 AND name = $3";
    const GETS_SECRETS: &str =
        "SELECT version FROM tool_secret_versions WHERE tenant_id = $1 AND tool_id = $2 AND version = $3";
    const ALLOW_SECRETS: &str = "INSERT INTO tool_secret_versions (tenant_id, tool_id, version, allowed_by, allowed_at) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant_id, tool_id, version) DO NOTHING";
    const DELETE_SECRETS: &str = "DELETE FROM tool_secrets WHERE tenant_id = $1 AND tool_id = $2";
}

record! {
    /// A tool with its working copy.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ToolRecord of "tools" {
        /// Identifies the tool.
        pub id: ToolId,
        /// Name in URLs and for agents; never changes.
        pub slug: String,
        /// What the tool does.
        pub definition: Definition,
        /// Whether the tool can be run.
        pub state: State,
        /// Number of the version published last; `None` for a draft.
        pub version: Option<u64>,
        /// Number of this working copy: 1 at first, one more with each change.
        pub revision: u64,
        /// Revision that `version` was made from; `None` for a draft.
        pub published_revision: Option<u64>,
        /// Who made the tool: `user:…`, `token:…` or `system`.
        pub created_by: String,
        /// Who changed, published or unpublished it last.
        pub updated_by: String,
        /// Time the tool was made (UTC).
        pub created_at: Timestamp,
        /// Time of the last change, publication or withdrawal (UTC).
        pub updated_at: Timestamp,
    }
}

impl ToolRecord {
    /// Whether the working copy differs from the version published last. A draft does.
    pub fn is_changed(&self) -> bool {
        self.published_revision != Some(self.revision)
    }
}

record! {
    /// A published tool that a search has found.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct FoundTool of "tools" {
        /// Name in URLs.
        pub slug: String,
        /// Name for people, of the working copy.
        pub name: String,
    }
}

record! {
    /// A tool as it was published once.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ToolVersionRecord of "tool_versions" {
        /// Identifies the tool.
        pub tool_id: ToolId,
        /// Number of the version; the first is 1.
        pub version: u64,
        /// What the tool does.
        pub definition: Definition,
        /// Who published it: `user:…`, `token:…` or `system`.
        pub published_by: String,
        /// Time of publication (UTC).
        pub published_at: Timestamp,
    }
}

record! {
    /// A secret of a tool, without its value.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ToolSecretRecord of "tool_secrets" {
        /// Name by which headers refer to the secret.
        pub name: String,
        /// Who set the value last.
        pub set_by: String,
        /// Time the value was set last (UTC).
        pub set_at: Timestamp,
    }
}

fn json(definition: &Definition) -> Result<String> {
    serde_json::to_string(definition).map_err(|error| Error::Database(error.to_string()))
}

/// The tool, unless its columns contradict each other.
fn checked(tool: ToolRecord) -> Result<ToolRecord> {
    let is_draft = tool.state == State::Draft;
    if tool.version.is_none() == is_draft && tool.published_revision.is_none() == is_draft {
        return Ok(tool);
    }
    Err(Error::inconsistent("tools", "version", tool.version))
}

/// A tool of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: ToolId) -> Result<Option<ToolRecord>> {
    run!(conn, fetch_optional ToolRecord, BY_ID, tenant_id.0, id.0)?.map(checked).transpose()
}

/// The tool of this workspace with this slug.
pub async fn find_by_slug(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str) -> Result<Option<ToolRecord>> {
    run!(conn, fetch_optional ToolRecord, BY_SLUG, tenant_id.0, slug)?.map(checked).transpose()
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, slug: &str) -> Result<Option<ToolRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_SLUG } else { BY_SLUG_LOCKED_POSTGRES };
    run!(tx.conn(), fetch_optional ToolRecord, sql, tenant_id.0, slug)?.map(checked).transpose()
}

/// One page of tools, newest first, starting after `before`: those whose names have these titles, and whose slugs,
/// names and descriptions have these texts.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (titles, texts): (&Contains, &Contains),
    before: Option<ToolId>,
    limit: u32,
) -> Result<Page<ToolRecord>> {
    let sql = if matches!(conn, Conn::Sqlite(_)) { LIST_SQLITE } else { LIST_POSTGRES };
    let (before, more) = (before.map(|id| id.0), i64::from(limit) + 1);
    let (titles, no_titles, texts, no_texts) = (titles.all(), titles.none(), texts.all(), texts.none());
    let rows = run!(
        conn,
        fetch_all ToolRecord,
        sql,
        tenant_id.0,
        before,
        more,
        titles.as_deref(),
        no_titles.as_deref(),
        texts.as_deref(),
        no_texts.as_deref(),
    )?;
    let tools = rows.into_iter().map(checked).collect::<Result<_>>()?;
    Ok(Page::of(tools, limit))
}

/// Published tools whose name or slug contains a text, regardless of case, newest first, at most `limit`. The newest
/// [`TOOLS_LOOKED_MAX`] are compared.
pub async fn find_published(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    text: &str,
    limit: u32,
) -> Result<Vec<FoundTool>> {
    let is_sqlite = matches!(conn, Conn::Sqlite(_));
    let sql = if is_sqlite { FIND_PUBLISHED_SQLITE } else { FIND_PUBLISHED_POSTGRES };
    let (looked, pattern) = (i64::from(TOOLS_LOOKED_MAX), contains(text));
    Ok(run!(conn, fetch_all FoundTool, sql, tenant_id.0, looked, pattern.as_str(), i64::from(limit))?)
}

/// Slug and name of the newest tools of a workspace, at most `limit`. The names are those of the working copies.
pub async fn names(conn: &mut Conn<'_>, tenant_id: TenantId, limit: u32) -> Result<Vec<(String, String)>> {
    let sql = if matches!(conn, Conn::Sqlite(_)) { NAMES_SQLITE } else { NAMES_POSTGRES };
    Ok(run!(conn, fetch_all(String, String), sql, tenant_id.0, i64::from(limit))?)
}

/// A tool of this workspace as it was published at a version.
pub async fn version_of(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: ToolId,
    version: u64,
) -> Result<Option<ToolVersionRecord>> {
    Ok(run!(conn, fetch_optional ToolVersionRecord, BY_VERSION, tenant_id.0, id.0, version.cast_signed())?)
}

/// One page of a tool's versions, newest first, starting after `before`.
pub async fn versions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: ToolId,
    before: Option<u64>,
    limit: u32,
) -> Result<Page<ToolVersionRecord>> {
    let before = before.map(u64::cast_signed);
    let rows = run!(conn, fetch_all ToolVersionRecord, VERSIONS, tenant_id.0, id.0, before, i64::from(limit) + 1)?;
    Ok(Page::of(rows, limit))
}

/// Adds a tool. `false` when its slug is taken.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &ToolRecord) -> Result<bool> {
    let inserted = run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        record.id.0,
        record.slug.as_str(),
        json(&record.definition)?.as_str(),
        record.state.as_str(),
        record.version.map(u64::cast_signed),
        record.revision.cast_signed(),
        record.published_revision.map(u64::cast_signed),
        record.created_by.as_str(),
        record.updated_by.as_str(),
        to_micros(record.created_at),
        to_micros(record.updated_at),
    );
    is_free(inserted)
}

/// Writes the changed columns of a tool; the caller holds its lock.
pub async fn update(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &ToolRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        UPDATE,
        tenant_id.0,
        record.id.0,
        json(&record.definition)?.as_str(),
        record.state.as_str(),
        record.version.map(u64::cast_signed),
        record.revision.cast_signed(),
        record.published_revision.map(u64::cast_signed),
        record.updated_by.as_str(),
        to_micros(record.updated_at),
    )?;
    Ok(())
}

/// Adds a published version. The row of the tool exists.
pub async fn insert_version(tx: &mut WriteTx<'_>, tenant_id: TenantId, record: &ToolVersionRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT_VERSION,
        tenant_id.0,
        record.tool_id.0,
        record.version.cast_signed(),
        json(&record.definition)?.as_str(),
        record.published_by.as_str(),
        to_micros(record.published_at),
    )?;
    Ok(())
}

/// Deletes a tool that was never published, with its secrets; the caller holds its lock. The database refuses it for
/// others.
pub async fn delete(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ToolId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_SECRETS, tenant_id.0, id.0)?;
    run!(tx.conn(), execute, DELETE, tenant_id.0, id.0)?;
    Ok(())
}

/// The secrets of a tool without their values, by name.
pub async fn secrets(conn: &mut Conn<'_>, tenant_id: TenantId, id: ToolId) -> Result<Vec<ToolSecretRecord>> {
    Ok(run!(conn, fetch_all ToolSecretRecord, SECRET_NAMES, tenant_id.0, id.0, TOOL_SECRETS_MAX as i64)?)
}

/// Names and encrypted values of a tool's secrets.
pub async fn sealed_secrets(conn: &mut Conn<'_>, tenant_id: TenantId, id: ToolId) -> Result<Vec<(String, Vec<u8>)>> {
    Ok(run!(conn, fetch_all(String, Vec<u8>), SEALED_SECRETS, tenant_id.0, id.0, TOOL_SECRETS_MAX as i64)?)
}

/// Sets a secret to an encrypted value, and replaces the earlier one. The caller holds the tool's lock.
pub async fn set_secret(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: ToolId,
    secret: &ToolSecretRecord,
    sealed: &[u8],
) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        SET_SECRET,
        tenant_id.0,
        id.0,
        secret.name.as_str(),
        sealed,
        secret.set_by.as_str(),
        to_micros(secret.set_at),
    )?;
    Ok(())
}

/// Deletes a secret. `false` when the tool has no secret with this name.
pub async fn delete_secret(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ToolId, name: &str) -> Result<bool> {
    Ok(run!(tx.conn(), execute, DELETE_SECRET, tenant_id.0, id.0, name)? == 1)
}

/// Whether the calls of a version get the secrets of its tool.
pub async fn gets_secrets(conn: &mut Conn<'_>, tenant_id: TenantId, id: ToolId, version: u64) -> Result<bool> {
    let row = run!(conn, fetch_optional(i64,), GETS_SECRETS, tenant_id.0, id.0, version.cast_signed())?;
    Ok(row.is_some())
}

/// Lets the calls of a version have the secrets of its tool, from now on. The caller holds the tool's lock.
pub async fn allow_secrets(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (id, version): (ToolId, u64),
    (by, at): (&str, Timestamp),
) -> Result<()> {
    let at = to_micros(at);
    run!(tx.conn(), execute, ALLOW_SECRETS, tenant_id.0, id.0, version.cast_signed(), by, at)?;
    Ok(())
}
