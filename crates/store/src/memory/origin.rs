//! Rows of `memory_origins`: which documents have lines that come from a session, and up to which version of each the
//! session was reverted.

use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    id::{MemoryDocumentId, SessionId, TenantId},
    memory::Evidence,
};
use std::collections::BTreeSet;
use uuid::Uuid;

statements! {
    const ADD: &str = "INSERT INTO memory_origins (tenant_id, agent, session_id, document_id, version, reverted_version) \
         VALUES ($1, $2, $3, $4, $5, 0) \
         ON CONFLICT (tenant_id, agent, session_id, document_id) DO UPDATE SET version = excluded.version";
    const DROP: &str = "DELETE FROM memory_origins WHERE tenant_id = $1 AND document_id = $2";
    const OF_SESSION: &str = "SELECT o.document_id, o.reverted_version FROM memory_origins o \
         JOIN memory_documents d ON d.tenant_id = o.tenant_id AND d.id = o.document_id \
         WHERE o.tenant_id = $1 AND o.agent = $2 AND o.session_id = $3 AND o.version > o.reverted_version \
         AND d.is_deleted = 0 ORDER BY d.path_folded, d.id LIMIT $4";
    const SAVE_REVERTED: &str = "UPDATE memory_origins SET reverted_version = $5 \
         WHERE tenant_id = $1 AND agent = $2 AND session_id = $3 AND document_id = $4";
}

/// Records the sessions that a version names.
pub(super) async fn add_origins(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    (id, version): (MemoryDocumentId, u64),
    evidence: &[Evidence],
) -> Result<()> {
    let sessions: BTreeSet<SessionId> = evidence.iter().map(|one| one.session).collect();
    for session in sessions {
        run!(tx.conn(), execute, ADD, tenant_id.0, agent, session.0, id.0, version.cast_signed())?;
    }
    Ok(())
}

/// Removes what is known of the sessions that a document comes from.
pub(super) async fn drop_origins(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: MemoryDocumentId) -> Result<()> {
    run!(tx.conn(), execute, DROP, tenant_id.0, id.0)?;
    Ok(())
}

/// Documents of an agent with a version that names this session as an origin, by path. Each with the version up to
/// which the session was reverted, which is 0 if it was not. Deleted documents are left out, and those of which no
/// version since then names the session.
pub async fn of_session(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    session_id: SessionId,
    limit: u32,
) -> Result<Vec<(MemoryDocumentId, u64)>> {
    type Found = (Uuid, i64);
    let rows = run!(conn, fetch_all Found, OF_SESSION, tenant_id.0, agent, session_id.0, i64::from(limit))?;
    Ok(rows.into_iter().map(|(id, version)| (MemoryDocumentId(id), version.cast_unsigned())).collect())
}

/// Records that a session was reverted in a document up to this version.
pub async fn save_reverted(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    session_id: SessionId,
    (id, version): (MemoryDocumentId, u64),
) -> Result<()> {
    run!(tx.conn(), execute, SAVE_REVERTED, tenant_id.0, agent, session_id.0, id.0, version.cast_signed())?;
    Ok(())
}
