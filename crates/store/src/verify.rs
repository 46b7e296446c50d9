//! Walking the whole log to check its chain. Reads pages, so that memory stays flat.

use crate::{
    conn::{Conn, run},
    error::Result,
};
use domain::{
    chain::Digest,
    id::{SessionId, TenantId},
};
use uuid::Uuid;

const SESSIONS: &str = "SELECT tenant_id, id, head_sequence, head_digest FROM sessions \
     WHERE tenant_id > $1 OR (tenant_id = $1 AND id > $2) OR $1 IS NULL ORDER BY tenant_id, id LIMIT $3";

pub(crate) const SQL: &[(&str, &str)] = &[("verify::SESSIONS", SESSIONS)];

/// What a session row says about its log.
#[derive(Debug, Clone, Copy)]
pub struct Claimed {
    /// The workspace.
    pub tenant_id: TenantId,
    /// The session.
    pub session_id: SessionId,
    /// Its newest sequence.
    pub head_sequence: u64,
    /// The digest of its newest event; all zeroes stand for one that is not a digest.
    pub head_digest: Digest,
}

/// Sessions of every workspace in key order, after `after`.
pub async fn sessions(conn: &mut Conn<'_>, after: Option<(TenantId, SessionId)>, limit: u32) -> Result<Vec<Claimed>> {
    type Row = (Uuid, Uuid, i64, Vec<u8>);
    let (tenant, session) = (after.map(|(tenant, _)| tenant.0), after.map(|(_, session)| session.0));
    let rows = run!(conn, fetch_all Row, SESSIONS, tenant, session, i64::from(limit))?;
    Ok(rows
        .into_iter()
        .map(|(tenant, id, head, digest)| Claimed {
            tenant_id: TenantId(tenant),
            session_id: SessionId(id),
            head_sequence: head.cast_unsigned(),
            head_digest: Digest::from_slice(&digest).unwrap_or(Digest::GENESIS),
        })
        .collect())
}
