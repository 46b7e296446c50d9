//! Rows of `share_links`: links with which people without an account read one session. Only digests of their secrets
//! are stored.

use crate::{
    engine::{Conn, Page, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, ShareLinkId, TenantId},
    share_link::Audience,
};
use uuid::Uuid;

macro_rules! link_select {
    ($which:literal) => {
        concat!(
            "SELECT tenant_id, id, session_id, audience, hint, created_by, created_at, expires_at, revoked_at, uses, \
             last_used_at FROM share_links WHERE ",
            $which
        )
    };
}

statements! {
    const BY_DIGEST: &str = link_select!("secret_digest = $1");
    const BY_ID: &str = link_select!("id = $1");
    const OF_TENANT: &str = link_select!("tenant_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3");
    const OF_MAKER: &str = link_select!("tenant_id = $1 AND created_by = $2 AND id < $3 ORDER BY id DESC LIMIT $4");
    const OF_SESSION: &str = link_select!("tenant_id = $1 AND session_id = $2 ORDER BY id DESC LIMIT $3");
    const OF_SESSION_AND_MAKER: &str =
        link_select!("tenant_id = $1 AND session_id = $2 AND created_by = $3 ORDER BY id DESC LIMIT $4");
    const WORKING: &str = "SELECT COUNT(*) FROM share_links \
         WHERE tenant_id = $1 AND session_id = $2 AND revoked_at IS NULL AND expires_at > $3";
    const INSERT: &str = "INSERT INTO share_links (tenant_id, id, session_id, audience, secret_digest, hint, created_by, \
         created_at, expires_at, uses) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0)";
    const USE: &str = "UPDATE share_links SET uses = uses + 1, last_used_at = $3 WHERE tenant_id = $1 AND id = $2";
    const REVOKE: &str =
        "UPDATE share_links SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL";
    const REVOKE_OF_SESSION: &str =
        "UPDATE share_links SET revoked_at = $3 WHERE tenant_id = $1 AND session_id = $2 AND revoked_at IS NULL";
}

record! {
    /// A link to a session, without its secret.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ShareLinkRecord of "share_links" {
        /// Workspace of the session.
        pub tenant_id: TenantId,
        /// Identifies the link in lists and in the address of its page. It gives no access.
        pub id: ShareLinkId,
        /// The session that it shows.
        pub session_id: SessionId,
        /// What it shows of the session.
        pub audience: Audience,
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
    }
}

impl ShareLinkRecord {
    /// Whether the link works at `now`.
    pub fn works(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }
}

type One<T> = (T,);

/// The link with this secret, whether it works or not.
pub async fn find_by_secret(conn: &mut Conn<'_>, secret_digest: [u8; 32]) -> Result<Option<ShareLinkRecord>> {
    Ok(run!(conn, fetch_optional ShareLinkRecord, BY_DIGEST, &secret_digest[..])?)
}

/// The link with this id in any workspace that the transaction sees, whether it works or not.
pub async fn find(conn: &mut Conn<'_>, id: ShareLinkId) -> Result<Option<ShareLinkRecord>> {
    Ok(run!(conn, fetch_optional ShareLinkRecord, BY_ID, id.0)?)
}

/// Links of a workspace before an id, newest first. `maker` selects those that this caller made.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    maker: Option<&str>,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Page<ShareLinkRecord>> {
    let (before, more) = (before.unwrap_or(Uuid::max()), i64::from(limit) + 1);
    let items = match maker {
        None => run!(conn, fetch_all ShareLinkRecord, OF_TENANT, tenant_id.0, before, more)?,
        Some(maker) => run!(conn, fetch_all ShareLinkRecord, OF_MAKER, tenant_id.0, maker, before, more)?,
    };
    Ok(Page::of(items, limit))
}

/// The newest links to one session, newest first. `maker` selects those that this caller made.
pub async fn of_session(
    conn: &mut Conn<'_>,
    (tenant_id, session_id): (TenantId, SessionId),
    maker: Option<&str>,
    limit: u32,
) -> Result<Vec<ShareLinkRecord>> {
    let (tenant, session, limit) = (tenant_id.0, session_id.0, i64::from(limit));
    Ok(match maker {
        None => run!(conn, fetch_all ShareLinkRecord, OF_SESSION, tenant, session, limit)?,
        Some(maker) => run!(conn, fetch_all ShareLinkRecord, OF_SESSION_AND_MAKER, tenant, session, maker, limit)?,
    })
}

/// Number of links to one session that work.
pub async fn working(
    conn: &mut Conn<'_>,
    (tenant_id, session_id): (TenantId, SessionId),
    now: Timestamp,
) -> Result<u64> {
    let (count,) = run!(conn, fetch_one One<i64>, WORKING, tenant_id.0, session_id.0, to_micros(now))?;
    Ok(count.max(0).cast_unsigned())
}

/// Stores a link.
pub async fn insert(tx: &mut WriteTx<'_>, link: &ShareLinkRecord, secret_digest: [u8; 32]) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        link.tenant_id.0,
        link.id.0,
        link.session_id.0,
        link.audience.as_str(),
        &secret_digest[..],
        link.hint.as_str(),
        link.created_by.as_str(),
        to_micros(link.created_at),
        to_micros(link.expires_at),
    )?;
    Ok(())
}

/// Counts one more use of a link.
pub async fn count_use(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ShareLinkId, now: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, USE, tenant_id.0, id.0, to_micros(now))?;
    Ok(())
}

/// Revokes a link. Returns whether it worked or had expired before: a repeat keeps the time of the first call.
pub async fn revoke(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: ShareLinkId, now: Timestamp) -> Result<bool> {
    Ok(run!(tx.conn(), execute, REVOKE, tenant_id.0, id.0, to_micros(now))? > 0)
}

/// Revokes all links to a session.
pub async fn revoke_of_session(
    tx: &mut WriteTx<'_>,
    (tenant_id, session_id): (TenantId, SessionId),
    now: Timestamp,
) -> Result<()> {
    run!(tx.conn(), execute, REVOKE_OF_SESSION, tenant_id.0, session_id.0, to_micros(now))?;
    Ok(())
}
