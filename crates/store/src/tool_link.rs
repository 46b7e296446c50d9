//! Rows of `tool_links` and `tool_link_runs`: links with which people without an account run one tool, and their runs.
//! Only digests of the secrets are stored.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId, ToolId, ToolLinkId},
};

macro_rules! link_select {
    ($which:literal) => {
        concat!(
            "SELECT tenant_id, id, tool_id, hint, created_by, created_at, expires_at, revoked_at, uses, last_used_at, \
             runs FROM tool_links WHERE ",
            $which
        )
    };
}

statements! {
    const BY_DIGEST: &str = link_select!("secret_digest = $1");
    const BY_ID: &str = link_select!("id = $1");
    const BY_ID_LOCKED_POSTGRES: &str = link_select!("id = $1 FOR UPDATE");
    // A link that works and is in no list could not be revoked.
    const OF_TOOL: &str = link_select!(
        "tenant_id = $1 AND tool_id = $2 AND ((revoked_at IS NULL AND expires_at > $4) OR id IN \
         (SELECT n.id FROM tool_links n WHERE n.tenant_id = $1 AND n.tool_id = $2 ORDER BY n.id DESC LIMIT $3)) \
         ORDER BY id DESC"
    );
    const WORKING: &str = "SELECT COUNT(*) FROM tool_links \
         WHERE tenant_id = $1 AND tool_id = $2 AND revoked_at IS NULL AND expires_at > $3";
    const INSERT: &str = "INSERT INTO tool_links (tenant_id, id, tool_id, secret_digest, hint, created_by, created_at, \
         expires_at, uses, runs) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0)";
    const USE: &str = "UPDATE tool_links SET uses = uses + 1, last_used_at = $3 WHERE tenant_id = $1 AND id = $2";
    const REVOKE: &str =
        "UPDATE tool_links SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL";
    const RUNS_SINCE: &str =
        "SELECT COUNT(*) FROM tool_link_runs WHERE tenant_id = $1 AND link_id = $2 AND begun_at > $3";
    const INSERT_RUN: &str =
        "INSERT INTO tool_link_runs (tenant_id, session_id, link_id, begun_at) VALUES ($1, $2, $3, $4)";
    const COUNT_RUN: &str = "UPDATE tool_links SET runs = runs + 1 WHERE tenant_id = $1 AND id = $2";
    const HAS_RUN: &str =
        "SELECT COUNT(*) FROM tool_link_runs WHERE tenant_id = $1 AND session_id = $2 AND link_id = $3";
}

record! {
    /// A link to a tool, without its secret.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ToolLinkRecord of "tool_links" {
        /// Workspace of the tool.
        pub tenant_id: TenantId,
        /// Identifies the link in lists and in the address of its page. It gives no access.
        pub id: ToolLinkId,
        /// The tool that it runs.
        pub tool_id: ToolId,
        /// First characters of the secret.
        pub hint: String,
        /// Who made the link: `user:…`.
        pub created_by: String,
        /// Time the link was made (UTC).
        pub created_at: Timestamp,
        /// Time from which the link is invalid (UTC).
        pub expires_at: Timestamp,
        /// Time the link was revoked (UTC).
        pub revoked_at: Option<Timestamp>,
        /// Number of times that a browser opened the page with the secret.
        pub uses: u64,
        /// Time a browser did so last (UTC).
        pub last_used_at: Option<Timestamp>,
        /// Number of runs that were begun by the link.
        pub runs: u64,
    }
}

impl ToolLinkRecord {
    /// Whether the link works at `now`.
    pub fn works(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }
}

type One<T> = (T,);

/// The link with this secret, whether it works or not.
pub async fn find_by_secret(conn: &mut Conn<'_>, secret_digest: [u8; 32]) -> Result<Option<ToolLinkRecord>> {
    Ok(run!(conn, fetch_optional ToolLinkRecord, BY_DIGEST, &secret_digest[..])?)
}

/// The link with this id in any workspace that the transaction sees, whether it works or not.
pub async fn find(conn: &mut Conn<'_>, id: ToolLinkId) -> Result<Option<ToolLinkRecord>> {
    Ok(run!(conn, fetch_optional ToolLinkRecord, BY_ID, id.0)?)
}

/// The same, locked until the transaction ends.
pub async fn find_locked(tx: &mut WriteTx<'_>, id: ToolLinkId) -> Result<Option<ToolLinkRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    Ok(run!(tx.conn(), fetch_optional ToolLinkRecord, sql, id.0)?)
}

/// The newest `limit` links to one tool, whether they work or not, and all that work at `now`, newest first.
pub async fn of_tool(
    conn: &mut Conn<'_>,
    (tenant_id, tool_id): (TenantId, ToolId),
    limit: u32,
    now: Timestamp,
) -> Result<Vec<ToolLinkRecord>> {
    Ok(run!(conn, fetch_all ToolLinkRecord, OF_TOOL, tenant_id.0, tool_id.0, i64::from(limit), to_micros(now))?)
}

/// Number of links to one tool that work.
pub async fn working(conn: &mut Conn<'_>, (tenant_id, tool_id): (TenantId, ToolId), now: Timestamp) -> Result<u64> {
    let (count,) = run!(conn, fetch_one One<i64>, WORKING, tenant_id.0, tool_id.0, to_micros(now))?;
    Ok(count.max(0).cast_unsigned())
}

/// Stores a link.
pub async fn insert(tx: &mut WriteTx<'_>, link: &ToolLinkRecord, secret_digest: [u8; 32]) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        link.tenant_id.0,
        link.id.0,
        link.tool_id.0,
        &secret_digest[..],
        link.hint.as_str(),
        link.created_by.as_str(),
        to_micros(link.created_at),
        to_micros(link.expires_at),
    )?;
    Ok(())
}

/// Counts one more use of a link.
pub async fn count_use(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ToolLinkId, now: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, USE, tenant_id.0, id.0, to_micros(now))?;
    Ok(())
}

/// Revokes a link. Returns whether it worked or had expired before: a repeat keeps the time of the first call.
pub async fn revoke(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ToolLinkId, now: Timestamp) -> Result<bool> {
    Ok(run!(tx.conn(), execute, REVOKE, tenant_id.0, id.0, to_micros(now))? > 0)
}

/// Number of runs that were begun by a link after `since`.
pub async fn runs_since(conn: &mut Conn<'_>, tenant_id: TenantId, id: ToolLinkId, since: Timestamp) -> Result<u64> {
    let (count,) = run!(conn, fetch_one One<i64>, RUNS_SINCE, tenant_id.0, id.0, to_micros(since))?;
    Ok(count.max(0).cast_unsigned())
}

/// Records that a session was begun by a link, and counts it.
pub async fn insert_run(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (id, session_id): (ToolLinkId, SessionId),
    begun_at: Timestamp,
) -> Result<()> {
    run!(tx.conn(), execute, INSERT_RUN, tenant_id.0, session_id.0, id.0, to_micros(begun_at))?;
    run!(tx.conn(), execute, COUNT_RUN, tenant_id.0, id.0)?;
    Ok(())
}

/// Whether a session was begun by this link.
pub async fn has_run(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    (id, session_id): (ToolLinkId, SessionId),
) -> Result<bool> {
    let (count,) = run!(conn, fetch_one One<i64>, HAS_RUN, tenant_id.0, session_id.0, id.0)?;
    Ok(count > 0)
}
