//! Reads one session.

use super::{Row, record, session_select};
use crate::{
    engine::{Conn, Result, run, spanned, statements},
    transaction::WriteTx,
};
use domain::{
    id::{SessionId, TenantId},
    session::Session,
};

statements! {
    const BY_ID: &str = session_select!(whole "tenant_id = $1 AND id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = session_select!(whole "tenant_id = $1 AND id = $2 FOR NO KEY UPDATE");
    const BY_IDEMPOTENCY_KEY: &str = session_select!(whole "tenant_id = $1 AND idempotency_key = $2");
    const IDEMPOTENCY_DIGEST: &str =
        "SELECT idempotency_digest FROM sessions WHERE tenant_id = $1 AND idempotency_key = $2";
    // Held until the transaction ends. The seed 4071 identifies this kind of lock.
    const LOCK_IDEMPOTENCY_KEY_POSTGRES: &str =
        "SELECT 1 FROM pg_advisory_xact_lock(hashtextextended(CAST($1 AS text) || $2, 4071))";
    const DEPTH: &str = "WITH RECURSIVE up (id, parent_id, depth) AS (\
         SELECT id, parent_id, CAST(1 AS bigint) FROM sessions WHERE tenant_id = $1 AND id = $2 \
         UNION ALL SELECT s.id, s.parent_id, up.depth + 1 FROM sessions s JOIN up ON s.id = up.parent_id \
         WHERE s.tenant_id = $1 AND up.depth < 64) SELECT MAX(depth) FROM up";
}

/// A session of this workspace, with its result whatever its size.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<Option<Session>> {
    record(run!(conn, fetch_optional Row, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: SessionId) -> Result<Option<Session>> {
    let row = match tx.conn() {
        Conn::Sqlite(c) => spanned!(BY_ID, fetch_optional, c.fetch_optional::<Row>(BY_ID, &[&tenant_id.0, &id.0]))?,
        Conn::Postgres(c) => {
            let query = sqlx::query_as::<_, Row>(BY_ID_LOCKED_POSTGRES).bind(tenant_id.0).bind(id.0);
            spanned!(BY_ID_LOCKED_POSTGRES, fetch_optional, query.fetch_optional(&mut **c).await)?
        }
    };
    record(row)
}

/// Locks an idempotency key until the transaction ends, and waits while another transaction holds it: of requests with
/// one key at the same time, the second finds what the first one made. SQLite has one writer and needs no lock.
pub async fn lock_idempotency_key(tx: &mut WriteTx<'_>, tenant_id: TenantId, key: &str) -> Result<()> {
    if let Conn::Postgres(c) = tx.conn() {
        sqlx::query(LOCK_IDEMPOTENCY_KEY_POSTGRES).bind(tenant_id.0).bind(key).execute(&mut **c).await?;
    }
    Ok(())
}

/// The session made with this idempotency key, and the digest of the request that made it.
pub async fn find_by_idempotency_key(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    key: &str,
) -> Result<Option<(Session, Vec<u8>)>> {
    let Some(session) = record(run!(conn, fetch_optional Row, BY_IDEMPOTENCY_KEY, tenant_id.0, key)?)? else {
        return Ok(None);
    };
    let digest = run!(conn, fetch_optional One<Option<Vec<u8>>>, IDEMPOTENCY_DIGEST, tenant_id.0, key)?;
    Ok(Some((session, digest.and_then(|(digest,)| digest).unwrap_or_default())))
}

/// How many sessions are above and including this one.
pub async fn depth(conn: &mut Conn<'_>, tenant_id: TenantId, id: SessionId) -> Result<u32> {
    let (depth,) = run!(conn, fetch_one One<Option<i64>>, DEPTH, tenant_id.0, id.0)?;
    Ok(u32::try_from(depth.unwrap_or_default()).unwrap_or(u32::MAX))
}

/// A row of one column. Written out, the formatter would take the tuple for a call's arguments.
type One<T> = (T,);
