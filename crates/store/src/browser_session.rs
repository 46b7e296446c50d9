//! Rows of `browser_sessions`: only digests of cookies are stored.

use crate::{
    conn::{Conn, run},
    error::{Error, Result},
    record::{BrowserSessionRecord, TenantRecord},
    sqlite::row,
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::{BrowserSessionId, TenantId, UserId},
    role::Role,
};
use uuid::Uuid;

const INSERT: &str = "INSERT INTO browser_sessions (id, secret_digest, tenant_id, user_id, created_at, last_seen_at, expires_at) \
     VALUES ($1, $2, $3, $4, $5, $5, $6)";
const BY_DIGEST: &str = "SELECT b.id, b.user_id, u.email, b.tenant_id, t.slug, t.name, m.role, b.expires_at, b.last_seen_at \
     FROM browser_sessions b JOIN users u ON u.id = b.user_id JOIN tenants t ON t.id = b.tenant_id \
     JOIN memberships m ON m.tenant_id = b.tenant_id AND m.user_id = b.user_id WHERE b.secret_digest = $1";
const TOUCH: &str = "UPDATE browser_sessions SET last_seen_at = $2 WHERE id = $1";
const SWITCH: &str = "UPDATE browser_sessions SET tenant_id = $2 WHERE id = $1";
const DELETE: &str = "DELETE FROM browser_sessions WHERE secret_digest = $1";
const DELETE_EXPIRED: &str = "DELETE FROM browser_sessions WHERE expires_at < $1 OR last_seen_at < $2";

pub(crate) const SQL: &[(&str, &str)] = &[
    ("browser_session::INSERT", INSERT),
    ("browser_session::BY_DIGEST", BY_DIGEST),
    ("browser_session::TOUCH", TOUCH),
    ("browser_session::SWITCH", SWITCH),
    ("browser_session::DELETE", DELETE),
    ("browser_session::DELETE_EXPIRED", DELETE_EXPIRED),
];

row! {
    struct Row {
        id: Uuid,
        user_id: Uuid,
        email: String,
        tenant_id: Uuid,
        slug: String,
        name: String,
        role: String,
        expires_at: i64,
        last_seen_at: i64,
    }
}

/// A sign-in to be stored.
#[derive(Debug, Clone, Copy)]
pub struct NewBrowserSession {
    /// Id.
    pub id: BrowserSessionId,
    /// SHA-256 of the cookie.
    pub secret_digest: [u8; 32],
    /// The workspace it opens.
    pub tenant_id: TenantId,
    /// The person.
    pub user_id: UserId,
    /// Now.
    pub at: Timestamp,
    /// Its absolute end.
    pub expires_at: Timestamp,
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
    )?;
    Ok(())
}

/// The sign-in of a cookie, while its person is still a member of its workspace.
pub async fn find(conn: &mut Conn<'_>, secret_digest: [u8; 32]) -> Result<Option<BrowserSessionRecord>> {
    let Some(row) = run!(conn, fetch_optional Row, BY_DIGEST, &secret_digest[..])? else { return Ok(None) };
    Ok(Some(BrowserSessionRecord {
        id: BrowserSessionId(row.id),
        user_id: UserId(row.user_id),
        email: row.email,
        tenant: TenantRecord { id: TenantId(row.tenant_id), slug: row.slug, name: row.name },
        role: Role::parse(&row.role).ok_or_else(|| Error::inconsistent("memberships", "role", &row.role))?,
        expires_at: from_micros(row.expires_at),
        last_seen_at: from_micros(row.last_seen_at),
    }))
}

/// Notes that it is in use.
pub async fn touch(tx: &mut WriteTx<'_>, id: BrowserSessionId, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, TOUCH, id.0, to_micros(at))?;
    Ok(())
}

/// Lets it look at another workspace.
pub async fn switch(tx: &mut WriteTx<'_>, id: BrowserSessionId, tenant_id: TenantId) -> Result<()> {
    run!(tx.conn(), execute, SWITCH, id.0, tenant_id.0)?;
    Ok(())
}

/// Ends a sign-in.
pub async fn delete(tx: &mut WriteTx<'_>, secret_digest: [u8; 32]) -> Result<()> {
    run!(tx.conn(), execute, DELETE, &secret_digest[..])?;
    Ok(())
}

/// Ends those past their absolute end, and those unused since `idle_since`.
pub async fn delete_expired(tx: &mut WriteTx<'_>, now: Timestamp, idle_since: Timestamp) -> Result<u64> {
    Ok(run!(tx.conn(), execute, DELETE_EXPIRED, to_micros(now), to_micros(idle_since))?)
}
