//! Rows of `session_continuity`: how well agents continued from what was known, as a model scored it.

use crate::{
    engine::{Conn, Result, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId, least_v7},
};
use uuid::Uuid;

statements! {
    // A score alone makes no label, so only sessions with a rated or used memory are scored.
    const NEXT: &str = "SELECT s.id, COALESCE(c.attempts, 0) FROM sessions s \
         LEFT JOIN session_continuity c ON c.tenant_id = s.tenant_id AND c.session_id = s.id \
         WHERE s.tenant_id = $1 AND s.agent_slug = $2 AND s.id >= $3 \
         AND s.status IN ('completed', 'failed', 'abandoned', 'expired') AND s.private_to IS NULL \
         AND EXISTS (SELECT 1 FROM session_memories m WHERE m.tenant_id = s.tenant_id AND m.session_id = s.id \
             AND (m.use_hits > 0 OR EXISTS (SELECT 1 FROM memory_ratings r WHERE r.tenant_id = m.tenant_id \
                 AND r.session_id = m.session_id AND r.turn = m.turn AND r.memory_id = m.memory_id))) \
         AND (c.session_id IS NULL OR c.retry_at <= $4) ORDER BY s.id LIMIT 1";
    const SCORED: &str = "SELECT COUNT(*) FROM session_continuity WHERE tenant_id = $1 AND agent = $2 \
         AND scored_at >= $3 AND retry_at IS NULL";
    // A session whose memories were deleted meanwhile is not scored.
    const SAVE: &str = "INSERT INTO session_continuity (tenant_id, session_id, agent, score, model, scored_at, retry_at) \
         SELECT $1, $2, $3, $4, $5, $6, $7 WHERE EXISTS (SELECT 1 FROM session_memories m \
             WHERE m.tenant_id = $1 AND m.session_id = $2) ON CONFLICT (tenant_id, session_id) DO UPDATE \
         SET score = excluded.score, model = excluded.model, scored_at = excluded.scored_at, \
             attempts = session_continuity.attempts + 1, retry_at = excluded.retry_at \
         WHERE session_continuity.retry_at IS NOT NULL";
    const DELETE: &str = "DELETE FROM session_continuity WHERE tenant_id = $1 AND session_id = $2";
}

/// A session to be scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unscored {
    /// The session that has ended.
    pub session_id: SessionId,
    /// How often a model was asked about it in vain.
    pub attempts: u32,
}

/// What came of a question about a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// The score, from -1 to 1; `None` if the model gave none. Nothing more is asked.
    Final(Option<f64>),
    /// The model did not answer. It is asked again at this time.
    Missing(Timestamp),
}

/// The oldest session of an agent that began since this time, has ended, has a rated or used memory, and has no score.
/// A session for which the model failed is left out until its time has come.
pub async fn next_unscored(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    (since, now): (Timestamp, Timestamp),
) -> Result<Option<Unscored>> {
    let row = run!(conn, fetch_optional(Uuid, i64), NEXT, tenant_id.0, agent, least_v7(since), to_micros(now))?;
    Ok(row.map(|(id, attempts)| Unscored {
        session_id: SessionId(id),
        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
    }))
}

/// Number of an agent's sessions that were scored since this time. Those whose model is asked again do not count.
pub async fn count_scored(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, since: Timestamp) -> Result<u64> {
    let (count,) = run!(conn, fetch_one(i64,), SCORED, tenant_id.0, agent, to_micros(since))?;
    Ok(count.cast_unsigned())
}

/// Saves what came of a question about a session. The first final answer stays.
pub async fn save(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    (session_id, agent): (SessionId, &str),
    (answer, model): (Answer, &str),
    at: Timestamp,
) -> Result<()> {
    let (score, retry_at) = match answer {
        Answer::Final(score) => (score, None),
        Answer::Missing(retry_at) => (None, Some(to_micros(retry_at))),
    };
    let (session, at) = (session_id.0, to_micros(at));
    run!(tx.conn(), execute, SAVE, tenant_id.0, session, agent, score, model, at, retry_at)?;
    Ok(())
}

/// Deletes the score of a session.
pub(crate) async fn forget(tx: &mut WriteTx<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, DELETE, tenant_id.0, session_id.0)?;
    Ok(())
}
