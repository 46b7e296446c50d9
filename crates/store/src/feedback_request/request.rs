//! Rows of `feedback_requests`.

use crate::{
    engine::{Conn, Page, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::to_micros,
    feedback_request::{OnExpiry, RequestState},
    id::{FeedbackRequestId, GateId, SessionId, TenantId, UserId, ViewId},
    limit::PARENT_DEPTH_MAX,
    session::Status,
    view::Gate,
};
use uuid::Uuid;

macro_rules! request_select {
    ($rest:literal) => {
        concat!(
            "SELECT tenant_id, id, session_id, attempt, gate_id, view_id, version, message, blocking, access, audience, \
             asked_by, asked_at, expires_at, on_expiry, idempotency_key, digest, state, closed_at FROM feedback_requests \
             WHERE tenant_id = $1 AND ",
            $rest
        )
    };
}

// $3 is the person, $4 the same as an actor, $5 whether the person decides, $6 whether the person manages sessions.
macro_rules! open_for {
    ($before:expr, $after:expr) => {
        concat!(
            $before,
            "state = 'waiting' AND NOT blocking AND (expires_at IS NULL OR expires_at > $2) \
             AND NOT EXISTS (SELECT 1 FROM request_answers a \
             WHERE a.tenant_id = $1 AND a.request_id = feedback_requests.id) \
             AND EXISTS (SELECT 1 FROM sessions s WHERE s.tenant_id = $1 AND s.id = feedback_requests.session_id \
             AND s.status NOT IN ('completed', 'failed', 'abandoned', 'expired') AND s.private_to IS NULL \
             AND (feedback_requests.audience IS NOT NULL OR $6 = 1 OR s.user_id = $3 OR s.created_by = $4 \
             OR (feedback_requests.access = 'member' AND $5 = 1))) \
             AND (audience IS NULL OR EXISTS (SELECT 1 FROM groups g JOIN group_members m ON m.tenant_id = g.tenant_id \
             AND m.group_id = g.id WHERE g.tenant_id = $1 AND g.slug = feedback_requests.audience AND m.user_id = $3))",
            $after
        )
    };
}

statements! {
    const BY_ID: &str = request_select!("id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = request_select!("id = $2 FOR UPDATE");
    const BY_KEY: &str = request_select!("session_id = $2 AND idempotency_key = $3");
    const BY_GATE: &str = request_select!("gate_id = $2");
    const OF_SESSION: &str = request_select!("session_id = $2 AND (id < $3 OR $3 IS NULL) ORDER BY id DESC LIMIT $4");
    const COUNT: &str = "SELECT COUNT(*) FROM feedback_requests WHERE tenant_id = $1 AND session_id = $2";
    const INSERT: &str = "INSERT INTO feedback_requests (tenant_id, id, session_id, attempt, gate_id, view_id, version, message, \
         blocking, access, audience, asked_by, asked_at, expires_at, on_expiry, idempotency_key, digest, state) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 'waiting')";
    const CLOSE: &str = "UPDATE feedback_requests SET state = $3, closed_at = $4 \
         WHERE tenant_id = $1 AND id = $2 AND state = 'waiting'";
    const PAST_DEADLINE: &str = "SELECT tenant_id, id, session_id FROM feedback_requests \
         WHERE state = 'waiting' AND NOT blocking AND expires_at <= $1 ORDER BY expires_at LIMIT $2";
    const OPEN_AFTER: &str = "SELECT q.tenant_id, q.id, q.session_id, s.status FROM feedback_requests q \
         JOIN sessions s ON s.tenant_id = q.tenant_id AND s.id = q.session_id \
         WHERE q.state = 'waiting' AND NOT q.blocking AND (q.tenant_id, q.id) > ($1, $2) \
         ORDER BY q.tenant_id, q.id LIMIT $3";

    const OPEN_FOR: &str =
        open_for!(request_select!(""), " ORDER BY CASE WHEN expires_at IS NULL THEN 1 ELSE 0 END, expires_at, id LIMIT $7");
    const COUNT_OPEN_FOR: &str = open_for!(
        "SELECT COUNT(*) FROM (SELECT 1 FROM feedback_requests WHERE tenant_id = $1 AND ",
        " LIMIT $7) AS counted"
    );
    // The chain of parents is short, and bounded where sessions are started.
    const ROOT: &str = "WITH RECURSIVE up (id, parent_id, depth) AS (\
         SELECT id, parent_id, 0 FROM sessions WHERE tenant_id = $1 AND id = $2 UNION ALL \
         SELECT s.id, s.parent_id, up.depth + 1 FROM up JOIN sessions s ON s.tenant_id = $1 AND s.id = up.parent_id \
         WHERE up.depth < $3) SELECT id FROM up ORDER BY depth DESC LIMIT 1";
}

record! {
    /// A request of an agent.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RequestRecord of "feedback_requests" {
        /// Workspace of the session that asked.
        pub tenant_id: TenantId,
        /// Identifies the request.
        pub id: FeedbackRequestId,
        /// Session that asked.
        pub session_id: SessionId,
        /// Attempt of the session that asked, or that waits for the answer.
        pub attempt: u32,
        /// Gate at which the session waits; `None` if it does not wait.
        pub gate_id: Option<GateId>,
        /// View with the form.
        pub view_id: ViewId,
        /// Version of the view that is answered.
        pub version: u64,
        /// What the agent asks.
        pub message: String,
        /// Whether the session waits for an answer.
        pub blocking: bool,
        /// What somebody must do before the form opens.
        pub access: Gate,
        /// Slug of the group whose members may answer; every member may without one.
        pub audience: Option<String>,
        /// Who asked: `token:…` or `agent:…`.
        pub asked_by: String,
        /// Time of the request (UTC).
        pub asked_at: Timestamp,
        /// Instant from which answers are late (UTC).
        pub expires_at: Option<Timestamp>,
        /// What happens to the session then.
        pub on_expiry: OnExpiry,
        /// Key of the agent; unique in the session.
        pub idempotency_key: String,
        /// Digest of what was asked.
        pub digest: Digest,
        /// State, without regard to the end of the session.
        pub state: RequestState,
        /// Time it was answered, expired or cancelled (UTC).
        pub closed_at: Option<Timestamp>,
    }
}

/// A request of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: FeedbackRequestId) -> Result<Option<RequestRecord>> {
    Ok(run!(conn, fetch_optional RequestRecord, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. Lock its session first. SQLite has one writer and needs no lock.
pub async fn find_locked(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: FeedbackRequestId,
) -> Result<Option<RequestRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    Ok(run!(tx.conn(), fetch_optional RequestRecord, sql, tenant_id.0, id.0)?)
}

/// The request of a session with this idempotency key.
pub async fn find_by_key(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    key: &str,
) -> Result<Option<RequestRecord>> {
    Ok(run!(conn, fetch_optional RequestRecord, BY_KEY, tenant_id.0, session_id.0, key)?)
}

/// The request that opened a gate.
pub async fn find_by_gate(conn: &mut Conn<'_>, tenant_id: TenantId, gate_id: GateId) -> Result<Option<RequestRecord>> {
    Ok(run!(conn, fetch_optional RequestRecord, BY_GATE, tenant_id.0, gate_id.0)?)
}

/// One page of a session's requests, newest first, starting after `before`.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    session_id: SessionId,
    before: Option<FeedbackRequestId>,
    limit: u32,
) -> Result<Page<RequestRecord>> {
    let before = before.map(|id| id.0);
    let rows =
        run!(conn, fetch_all RequestRecord, OF_SESSION, tenant_id.0, session_id.0, before, i64::from(limit) + 1)?;
    Ok(Page::of(rows, limit))
}

/// How many requests a session has made.
pub async fn count(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<u64> {
    type Count = (i64,);
    let (count,) = run!(conn, fetch_one Count, COUNT, tenant_id.0, session_id.0)?;
    Ok(count.cast_unsigned())
}

/// Adds a request that waits. Its session must be locked.
pub async fn insert(tx: &mut WriteTx<'_>, request: &RequestRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        request.tenant_id.0,
        request.id.0,
        request.session_id.0,
        i64::from(request.attempt),
        request.gate_id.map(|id| id.0),
        request.view_id.0,
        request.version.cast_signed(),
        request.message.as_str(),
        request.blocking,
        request.access.as_str(),
        request.audience.as_deref(),
        request.asked_by.as_str(),
        to_micros(request.asked_at),
        request.expires_at.map(to_micros),
        request.on_expiry.as_str(),
        request.idempotency_key.as_str(),
        &request.digest.0[..],
    )?;
    Ok(())
}

/// Closes a request that waits. One that is closed stays as it is.
pub async fn close(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: FeedbackRequestId,
    state: RequestState,
    at: Timestamp,
) -> Result<()> {
    run!(tx.conn(), execute, CLOSE, tenant_id.0, id.0, state.as_str(), to_micros(at))?;
    Ok(())
}

/// A person for whom open questions are listed.
#[derive(Debug, Clone, Copy)]
pub struct QuestionReader {
    /// Id of the person.
    pub user_id: UserId,
    /// Whether the person may decide what anyone may decide.
    pub decides: bool,
    /// Whether the person may end sessions of others.
    pub manages: bool,
}

/// Open requests that this person may answer, for which no session waits and which no one has answered: closest
/// deadline first, then oldest. Requests with an audience are listed for its members alone.
pub async fn open_for(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    asked: QuestionReader,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<RequestRecord>> {
    let actor = format!("user:{}", asked.user_id);
    Ok(run!(
        conn,
        fetch_all RequestRecord,
        OPEN_FOR,
        tenant_id.0,
        to_micros(now),
        asked.user_id.0,
        actor.as_str(),
        i64::from(asked.decides),
        i64::from(asked.manages),
        i64::from(limit),
    )?)
}

/// How many requests [`open_for`] would return.
pub async fn count_open_for(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    asked: QuestionReader,
    now: Timestamp,
    at_most: u32,
) -> Result<u64> {
    type Count = (i64,);
    let actor = format!("user:{}", asked.user_id);
    let (count,) = run!(
        conn,
        fetch_one Count,
        COUNT_OPEN_FOR,
        tenant_id.0,
        to_micros(now),
        asked.user_id.0,
        actor.as_str(),
        i64::from(asked.decides),
        i64::from(asked.manages),
        i64::from(at_most),
    )?;
    Ok(count.cast_unsigned())
}

/// A request: its workspace, its id and its session.
pub type RequestKey = (TenantId, FeedbackRequestId, SessionId);

/// Position at which the next call of [`of_ended`] continues: after this workspace and request. The default is the
/// start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenPosition(Uuid, Uuid);

fn request_key(tenant_id: Uuid, id: Uuid, session_id: Uuid) -> RequestKey {
    (TenantId(tenant_id), FeedbackRequestId(id), SessionId(session_id))
}

/// Open requests for which no session waits and whose deadline has passed, the earliest first.
pub async fn past_deadline(conn: &mut Conn<'_>, now: Timestamp, limit: u32) -> Result<Vec<RequestKey>> {
    type Due = (Uuid, Uuid, Uuid);
    let rows = run!(conn, fetch_all Due, PAST_DEADLINE, to_micros(now), i64::from(limit))?;
    Ok(rows.into_iter().map(|(tenant, id, session)| request_key(tenant, id, session)).collect())
}

/// Looks at the next `limit` open requests for which no session waits. Returns those whose session has ended, and where
/// to continue; after the last request that is the beginning.
pub async fn of_ended(conn: &mut Conn<'_>, after: OpenPosition, limit: u32) -> Result<(Vec<RequestKey>, OpenPosition)> {
    type Open = (Uuid, Uuid, Uuid, String);
    let rows = run!(conn, fetch_all Open, OPEN_AFTER, after.0, after.1, i64::from(limit))?;
    let next = rows.last().filter(|_| rows.len() == limit as usize);
    let next = next.map(|(tenant, id, ..)| OpenPosition(*tenant, *id)).unwrap_or_default();
    let ended = rows.into_iter().filter(|(.., status)| Status::parse(status).is_some_and(Status::is_final));
    Ok((ended.map(|(tenant, id, session, _)| request_key(tenant, id, session)).collect(), next))
}

/// The root of a session's tree: the session itself if no other started it.
pub async fn root_of(conn: &mut Conn<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<SessionId> {
    type Root = (Uuid,);
    let root = run!(conn, fetch_optional Root, ROOT, tenant_id.0, session_id.0, i64::from(PARENT_DEPTH_MAX))?;
    Ok(root.map_or(session_id, |(id,)| SessionId(id)))
}
