//! Rows of `memory_watermarks`: how far each session of an agent is summarised, and which sessions a failed run left.

use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId, UserId},
    session::Status,
};
use uuid::Uuid;

statements! {
    // Incognito sessions are never read, and the writer's own sessions have no turns of people.
    const TRACK: &str = "INSERT INTO memory_watermarks (tenant_id, agent, session_id, sequence, is_open) \
         SELECT s.tenant_id, s.agent_slug, s.id, 0, 1 FROM sessions s WHERE s.tenant_id = $1 AND s.id >= $3 AND s.agent_slug = $2 \
         AND s.private_to IS NULL AND (s.source IS NULL OR s.source <> 'memory') \
         ON CONFLICT (tenant_id, agent, session_id) DO NOTHING";
    // A part of what `TRACK` does: one statement over all sessions of an agent would have the database for too long.
    const TRACK_PART: &str = "INSERT INTO memory_watermarks (tenant_id, agent, session_id, sequence, is_open, is_backlog) \
         SELECT s.tenant_id, s.agent_slug, s.id, 0, 1, CASE WHEN s.id < $5 THEN 1 ELSE 0 END FROM sessions s \
         WHERE s.tenant_id = $1 AND s.id >= $3 AND s.id <= $4 \
         AND s.agent_slug = $2 AND s.private_to IS NULL AND (s.source IS NULL OR s.source <> 'memory') \
         ON CONFLICT (tenant_id, agent, session_id) DO NOTHING";
    // Driven by `sessions_by_agent_newest`.
    const PART: &str = "SELECT s.id FROM sessions s WHERE s.tenant_id = $1 AND s.agent_slug = $2 AND s.id >= $3 \
         ORDER BY s.id LIMIT 1 OFFSET $4";
    const OPEN: &str = "SELECT s.id, s.head_sequence, w.sequence, s.status, s.created_at, s.updated_at, s.metadata, s.user_id, \
         s.source \
         FROM memory_watermarks w JOIN sessions s ON s.tenant_id = w.tenant_id AND s.id = w.session_id \
         WHERE w.tenant_id = $1 AND w.agent = $2 AND w.is_open = 1 AND s.head_sequence > w.sequence \
         ORDER BY s.id LIMIT $3";
    // By the column of `memory_watermarks`: SQLite reads all sessions of the workspace in the order of their ids
    // otherwise.
    const FRESH: &str = "SELECT s.id, s.head_sequence, w.sequence, s.status, s.created_at, s.updated_at, s.metadata, s.user_id, \
         s.source \
         FROM memory_watermarks w JOIN sessions s ON s.tenant_id = w.tenant_id AND s.id = w.session_id \
         WHERE w.tenant_id = $1 AND w.agent = $2 AND w.is_open = 1 AND s.head_sequence > w.sequence AND w.is_alone = 0 \
         AND w.is_backlog = $4 ORDER BY w.session_id LIMIT $3";
    const LEFT_MAX: &str = "SELECT w.window_max \
         FROM memory_watermarks w JOIN sessions s ON s.tenant_id = w.tenant_id AND s.id = w.session_id \
         WHERE w.tenant_id = $1 AND w.agent = $2 AND w.is_open = 1 AND s.head_sequence > w.sequence AND w.is_alone = 1 \
         AND w.parked_at IS NULL AND (w.retry_at IS NULL OR w.retry_at <= $3) ORDER BY w.window_max DESC LIMIT 1";
    const LEFT: &str = "SELECT s.id, s.head_sequence, w.sequence, s.status, s.created_at, s.updated_at, s.metadata, s.user_id, \
         s.source \
         FROM memory_watermarks w JOIN sessions s ON s.tenant_id = w.tenant_id AND s.id = w.session_id \
         WHERE w.tenant_id = $1 AND w.agent = $2 AND w.is_open = 1 AND s.head_sequence > w.sequence AND w.is_alone = 1 \
         AND w.parked_at IS NULL AND (w.retry_at IS NULL OR w.retry_at <= $3) AND w.window_max = $4 \
         ORDER BY w.session_id LIMIT $4";
    // A session of the backlog stays in it until it is read to its end. From then on it is as every other.
    const MOVE: &str = "UPDATE memory_watermarks SET sequence = $5, is_open = $6, is_alone = 0, failures = 0, retry_at = NULL, \
         parked_at = NULL, is_backlog = CASE WHEN EXISTS (SELECT 1 FROM sessions s WHERE s.tenant_id = $1 AND s.id = $3 \
         AND s.head_sequence > $5) THEN is_backlog ELSE 0 END \
         WHERE tenant_id = $1 AND agent = $2 AND session_id = $3 AND sequence = $4";
    // A session at rest turns is read to its end is not visited at each look. This is a statement of its own after
    // `MOVE`, which locks the row: so it sees each change of the session whose transaction has run `REOPEN` before.
    const REST: &str = "UPDATE memory_watermarks SET is_open = 0 \
         WHERE tenant_id = $1 AND agent = $2 AND session_id = $3 AND sequence = $4 AND EXISTS (SELECT 1 FROM sessions s \
         WHERE s.tenant_id = $1 AND s.id = $3 AND s.status = 'idle' AND s.head_sequence = $4)";
    // Also of a row turns is open: it has to wait for a run turns is about to put the session to rest.
    const REOPEN: &str =
        "UPDATE memory_watermarks SET is_open = 1 WHERE tenant_id = $1 AND agent = $2 AND session_id = $3";
    const FAILURES: &str =
        "SELECT failures FROM memory_watermarks WHERE tenant_id = $1 AND agent = $2 AND session_id = $3";
    const FAIL: &str = "UPDATE memory_watermarks SET is_alone = 1, failures = $4, retry_at = $5, parked_at = $6, \
         window_max = $7 WHERE tenant_id = $1 AND agent = $2 AND session_id = $3";
    // The windows stay as small as they were: a session turns fails again must not have others.
    const FREE: &str = "UPDATE memory_watermarks SET failures = 0, retry_at = NULL, parked_at = NULL \
         WHERE tenant_id = $1 AND agent = $2 AND is_alone = 1";
}

record! {
    /// A session with events that are not summarised.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct OpenSession of "memory_watermarks" {
        /// Id of the session.
        pub id: SessionId,
        /// Sequence of its newest event.
        pub head_sequence: u64,
        /// Its watermark: the events up to here are summarised.
        pub sequence: u64,
        /// Present status of the session.
        pub status: Status,
        /// When it was created (UTC).
        pub created_at: Timestamp,
        /// When it changed last (UTC).
        pub updated_at: Timestamp,
        /// A JSON object.
        pub metadata: String,
        /// The person to whom it belongs.
        pub user_id: Option<UserId>,
        /// Part of the product or program that created the session, such as `human-session-bridge`.
        pub source: Option<String>,
    }
}

/// What a failed run does to a session of its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionFailure {
    /// Most sessions of the next run that reads it.
    pub window_max: u32,
    /// Failed runs in a row in which it was alone.
    pub failures: u32,
    /// Time before which it is not tried again (UTC); `None` if it is parked.
    pub retry_at: Option<Timestamp>,
    /// When it was parked for a person (UTC).
    pub parked_at: Option<Timestamp>,
}

/// Gives a watermark to the agent's sessions whose ids are not less than `from`.
pub async fn track(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, from: Uuid) -> Result<u64> {
    Ok(run!(tx.conn(), execute, TRACK, tenant_id.0, agent, from)?)
}

/// Gives a watermark to the agent's next `most` sessions whose ids are not less than `from`. Those whose ids are less
/// than `found_from` are read after the sessions that the writer finds by itself. Returns how many had none, and the id
/// from which the next part begins; `None` after the last part.
pub async fn track_part(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    (from, found_from): (Uuid, Uuid),
    most: u32,
) -> Result<(u64, Option<Uuid>)> {
    let next = run!(tx.conn(), fetch_optional(Uuid,), PART, tenant_id.0, agent, from, i64::from(most))?;
    let next = next.map(|(next,)| next);
    // The first session of the next part belongs to both: it has its watermark already then.
    let to = next.unwrap_or(Uuid::max());
    Ok((run!(tx.conn(), execute, TRACK_PART, tenant_id.0, agent, from, to, found_from)?, next))
}

/// The agent's sessions with events that are not summarised, in the order in which they began.
pub async fn open_sessions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    limit: u32,
) -> Result<Vec<OpenSession>> {
    Ok(run!(conn, fetch_all OpenSession, OPEN, tenant_id.0, agent, i64::from(limit))?)
}

/// The first sessions with events that are not summarised, without those that a failed run left: those of the backlog,
/// or else the others.
pub async fn fresh_sessions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    is_backlog: bool,
    limit: u32,
) -> Result<Vec<OpenSession>> {
    Ok(run!(conn, fetch_all OpenSession, FRESH, tenant_id.0, agent, i64::from(limit), i64::from(is_backlog))?)
}

/// The next window of sessions that failed runs left and that can be tried again at `now`: of those with the largest
/// windows the first, as many as their next run may read.
pub async fn left_sessions(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    now: Timestamp,
) -> Result<Vec<OpenSession>> {
    let now = to_micros(now);
    let most = run!(conn, fetch_optional(i64,), LEFT_MAX, tenant_id.0, agent, now)?;
    let Some((most,)) = most else { return Ok(Vec::new()) };
    Ok(run!(conn, fetch_all OpenSession, LEFT, tenant_id.0, agent, now, most)?)
}

/// Number of failed runs in a row in which a session was alone. 0 for a session without a watermark.
pub async fn session_failures(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    agent: &str,
    session_id: SessionId,
) -> Result<u32> {
    let found = run!(conn, fetch_optional(i64,), FAILURES, tenant_id.0, agent, session_id.0)?;
    let failures = found.map_or(0, |(failures,)| failures);
    u32::try_from(failures).map_err(|_| Error::inconsistent("memory_watermarks", "failures", failures))
}

/// Postpones a session of a failed run: records when and with how many others it is retried, or that it is parked.
pub async fn fail_session(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    session_id: SessionId,
    failure: SessionFailure,
) -> Result<()> {
    let (retry_at, parked_at) = (failure.retry_at.map(to_micros), failure.parked_at.map(to_micros));
    let (failures, window_max) = (i64::from(failure.failures), i64::from(failure.window_max));
    let tenant = tenant_id.0;
    run!(tx.conn(), execute, FAIL, tenant, agent, session_id.0, failures, retry_at, parked_at, window_max)?;
    Ok(())
}

/// Lets the sessions that failed runs left be tried again at once, in windows no larger than their last ones.
pub async fn free_sessions(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str) -> Result<()> {
    run!(tx.conn(), execute, FREE, tenant_id.0, agent)?;
    Ok(())
}

/// How the watermark of a session moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatermarkMove {
    /// Sequence at which it is.
    pub after: u64,
    /// Sequence to which it moves.
    pub upto: u64,
    /// Whether more turns can follow.
    pub is_open: bool,
}

/// Moves a watermark from `after` to `upto`. The session is no longer one that a failed run left. If it is idle and has
/// no event after `upto`, it is left out of every search until [`reopen`]. Returns `false` if the watermark is not at
/// `after`.
pub async fn move_watermark(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    session_id: SessionId,
    to: WatermarkMove,
) -> Result<bool> {
    let WatermarkMove { after, upto, is_open } = to;
    let (after, upto, open) = (after.cast_signed(), upto.cast_signed(), i64::from(is_open));
    let is_moved = run!(tx.conn(), execute, MOVE, tenant_id.0, agent, session_id.0, after, upto, open)? == 1;
    if is_moved && is_open {
        run!(tx.conn(), execute, REST, tenant_id.0, agent, session_id.0, upto)?;
    }
    Ok(is_moved)
}

/// Lets a session be found again. The transaction that adds events to an idle session does this, after it has locked
/// the session. Workers append to running sessions only, so they need not.
pub(crate) async fn reopen(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    session_id: SessionId,
) -> Result<()> {
    run!(tx.conn(), execute, REOPEN, tenant_id.0, agent, session_id.0)?;
    Ok(())
}
