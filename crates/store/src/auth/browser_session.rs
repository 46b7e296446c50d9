//! Rows of `browser_sessions`: only digests of cookies are stored.

use super::TenantRecord;
use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::{BrowserSessionId, TenantId, UserId},
    limit::SIGN_INS_LISTED_MAX,
    role::Role,
};
use uuid::Uuid;

statements! {
    const INSERT: &str = "INSERT INTO browser_sessions (id, secret_digest, tenant_id, user_id, created_at, last_seen_at, expires_at, \
         browser) VALUES ($1, $2, $3, $4, $5, $5, $6, $7)";
    const BY_DIGEST: &str = "SELECT b.id, b.user_id, u.email, u.name AS user_name, b.tenant_id, t.slug, t.name, m.role, b.expires_at, b.last_seen_at \
         FROM browser_sessions b JOIN users u ON u.id = b.user_id JOIN tenants t ON t.id = b.tenant_id \
         JOIN memberships m ON m.tenant_id = b.tenant_id AND m.user_id = b.user_id AND m.status = 'active' \
         WHERE b.secret_digest = $1";
    const OF_USER: &str = "SELECT b.id, t.name, b.browser, b.created_at, b.last_seen_at, \
         CAST(CASE WHEN b.secret_digest = $2 THEN 1 ELSE 0 END AS BIGINT) AS is_current \
         FROM browser_sessions b JOIN tenants t ON t.id = b.tenant_id \
         JOIN memberships m ON m.tenant_id = b.tenant_id AND m.user_id = b.user_id AND m.status = 'active' \
         WHERE b.user_id = $1 AND b.expires_at > $3 AND b.last_seen_at > $4 ORDER BY b.last_seen_at DESC, b.id LIMIT $5";
    const TOUCH: &str = "UPDATE browser_sessions SET last_seen_at = $2 WHERE id = $1";
    const SET_TENANT: &str = "UPDATE browser_sessions SET tenant_id = $2 WHERE id = $1";
    const DELETE: &str = "DELETE FROM browser_sessions WHERE secret_digest = $1 RETURNING tenant_id, user_id";
    const DELETE_ONE: &str = "DELETE FROM browser_sessions WHERE user_id = $1 AND id = $2 RETURNING tenant_id";
    const DELETE_OF_MEMBER: &str = "DELETE FROM browser_sessions WHERE tenant_id = $1 AND user_id = $2";
    const DELETE_OF_USER: &str =
        "DELETE FROM browser_sessions WHERE user_id = $1 AND secret_digest <> $2 RETURNING tenant_id";
    const DELETE_EXPIRED: &str = "DELETE FROM browser_sessions WHERE expires_at < $1 OR last_seen_at < $2";
}

/// A browser's sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserSessionRecord {
    /// Identifies the sign-in where it is listed or ended. It is not the secret in the cookie.
    pub id: BrowserSessionId,
    /// Id of the person who is signed in.
    pub user_id: UserId,
    /// Sign-in address of the person, lower case.
    pub email: String,
    /// Display name of the person; empty until the person sets it.
    pub name: String,
    /// The workspace that the browser shows.
    pub tenant: TenantRecord,
    /// Role of the person in that workspace.
    pub role: Role,
    /// Time the sign-in ends, even if it is in use (UTC).
    pub expires_at: Timestamp,
    /// Time of the last use, to the minute (UTC).
    pub last_seen_at: Timestamp,
}

/// One of a person's sign-ins, as listed to that person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInRecord {
    /// Identifies the sign-in when it is ended.
    pub id: BrowserSessionId,
    /// Name of the workspace that the browser shows.
    pub workspace: String,
    /// Description of the browser; empty if it is unknown.
    pub browser: String,
    /// Time of the sign-in (UTC).
    pub created_at: Timestamp,
    /// Time of the last use, to the minute (UTC).
    pub last_seen_at: Timestamp,
    /// Whether the request that lists the sign-ins uses this one.
    pub is_current: bool,
}

record! {
    struct Row of "browser_sessions" {
        id: BrowserSessionId,
        user_id: UserId,
        email: String,
        user_name: String,
        tenant_id: TenantId,
        slug: String,
        name: String,
        role: Role,
        expires_at: Timestamp,
        last_seen_at: Timestamp,
    }
}

/// A new sign-in.
#[derive(Debug, Clone)]
pub struct NewBrowserSession {
    /// Identifies the sign-in where it is listed or ended.
    pub id: BrowserSessionId,
    /// SHA-256 of the cookie.
    pub secret_digest: [u8; 32],
    /// The workspace that the browser shows first.
    pub tenant_id: TenantId,
    /// The person who signed in.
    pub user_id: UserId,
    /// Time of the sign-in (UTC).
    pub at: Timestamp,
    /// Time the sign-in ends, even if it is in use (UTC).
    pub expires_at: Timestamp,
    /// Description of the browser; empty if it is unknown.
    pub browser: String,
}

/// Stores a sign-in.
pub async fn insert(tx: &mut WriteTx<'_>, new: &NewBrowserSession) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        new.id.0,
        &new.secret_digest[..],
        new.tenant_id.0,
        new.user_id.0,
        to_micros(new.at),
        to_micros(new.expires_at),
        new.browser.as_str(),
    )?;
    Ok(())
}

/// The sign-in of a cookie; `None` if the person is no longer an active member of its workspace.
pub async fn find(conn: &mut Conn<'_>, secret_digest: [u8; 32]) -> Result<Option<BrowserSessionRecord>> {
    let Some(row) = run!(conn, fetch_optional Row, BY_DIGEST, &secret_digest[..])? else { return Ok(None) };
    Ok(Some(BrowserSessionRecord {
        id: row.id,
        user_id: row.user_id,
        email: row.email,
        name: row.user_name,
        tenant: TenantRecord { id: row.tenant_id, slug: row.slug, name: row.name },
        role: row.role,
        expires_at: row.expires_at,
        last_seen_at: row.last_seen_at,
    }))
}

/// Records the time of the last use.
pub async fn touch(tx: &mut WriteTx<'_>, id: BrowserSessionId, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, TOUCH, id.0, to_micros(at))?;
    Ok(())
}

/// Switches a sign-in to another workspace.
pub async fn switch(tx: &mut WriteTx<'_>, id: BrowserSessionId, tenant_id: TenantId) -> Result<()> {
    run!(tx.conn(), execute, SET_TENANT, id.0, tenant_id.0)?;
    Ok(())
}

/// Ends a sign-in. Returns the workspace that it showed and its person; `None` when there is none with this cookie.
pub async fn delete(tx: &mut WriteTx<'_>, secret_digest: [u8; 32]) -> Result<Option<(TenantId, UserId)>> {
    let ended = run!(tx.conn(), fetch_optional(Uuid, Uuid), DELETE, &secret_digest[..])?;
    Ok(ended.map(|(tenant_id, user_id)| (TenantId(tenant_id), UserId(user_id))))
}

/// The valid sign-ins of a person, last used first. `current` is the digest of the caller's own cookie.
/// Sign-ins unused since `idle_since` are not valid.
pub async fn list_of_user(
    conn: &mut Conn<'_>,
    user_id: UserId,
    current: Option<[u8; 32]>,
    now: Timestamp,
    idle_since: Timestamp,
) -> Result<Vec<SignInRecord>> {
    type Row = (Uuid, String, String, i64, i64, i64);
    let (digest, now, idle) = (current.unwrap_or_default(), to_micros(now), to_micros(idle_since));
    let most = i64::from(SIGN_INS_LISTED_MAX);
    let rows = run!(conn, fetch_all Row, OF_USER, user_id.0, &digest[..], now, idle, most)?;
    let record = |(id, workspace, browser, created_at, last_seen_at, is_current): Row| SignInRecord {
        id: BrowserSessionId(id),
        workspace,
        browser,
        created_at: from_micros(created_at),
        last_seen_at: from_micros(last_seen_at),
        is_current: is_current != 0,
    };
    Ok(rows.into_iter().map(record).collect())
}

/// Ends one sign-in of a person. Returns the workspace that it showed; `None` when they have none with this id.
pub async fn delete_one(tx: &mut WriteTx<'_>, user_id: UserId, id: BrowserSessionId) -> Result<Option<TenantId>> {
    type One = (Uuid,);
    Ok(run!(tx.conn(), fetch_optional One, DELETE_ONE, user_id.0, id.0)?.map(|(id,)| TenantId(id)))
}

/// Ends the sign-ins of a person that show this workspace.
pub async fn delete_of_member(tx: &mut WriteTx<'_>, tenant_id: TenantId, user_id: UserId) -> Result<()> {
    run!(tx.conn(), execute, DELETE_OF_MEMBER, tenant_id.0, user_id.0)?;
    Ok(())
}

/// Ends all sign-ins of a person except `kept`. Returns the workspaces that they showed, one for each sign-in.
pub async fn delete_of_user(tx: &mut WriteTx<'_>, user_id: UserId, kept: Option<[u8; 32]>) -> Result<Vec<TenantId>> {
    type One = (Uuid,);
    // No cookie has the digest of zeros.
    let kept = kept.unwrap_or_default();
    let ended = run!(tx.conn(), fetch_all One, DELETE_OF_USER, user_id.0, &kept[..])?;
    Ok(ended.into_iter().map(|(id,)| TenantId(id)).collect())
}

/// Ends the sign-ins that have expired or have been unused since `idle_since`. Returns how many.
pub async fn delete_expired(tx: &mut WriteTx<'_>, now: Timestamp, idle_since: Timestamp) -> Result<u64> {
    Ok(run!(tx.conn(), execute, DELETE_EXPIRED, to_micros(now), to_micros(idle_since))?)
}
