//! Rows of `paced_runs` and `paced_run_sessions`: failed sessions that are run again a few at a time.

use crate::{
    engine::{Conn, Page, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{PacedRunId, SessionId, TenantId},
    paced_run::{Outcome, State},
    session::Status,
};
use uuid::Uuid;

macro_rules! run_select {
    ($which:literal) => {
        concat!(
            "SELECT id, caller, idempotency_key, at_a_time, start_at, state, created_at, ended_at FROM paced_runs \
             WHERE tenant_id = $1 AND ",
            $which
        )
    };
}
macro_rules! counts_select {
    ($ids:literal) => {
        concat!(
            "SELECT p.run_id, p.outcome, s.status, COUNT(*) AS count FROM paced_run_sessions p \
             LEFT JOIN sessions s ON s.tenant_id = p.tenant_id AND s.id = p.new_session_id \
             WHERE p.tenant_id = $1 AND p.run_id ",
            $ids,
            " GROUP BY p.run_id, p.outcome, s.status"
        )
    };
}

statements! {
    const BY_ID: &str = run_select!("id = $2");
    const BY_ID_LOCKED_POSTGRES: &str = run_select!("id = $2 FOR UPDATE");
    const BY_KEY: &str = run_select!("idempotency_key = $2");
    const LIST: &str = run_select!("(id < $2 OR $2 IS NULL) AND (caller = $3 OR $3 IS NULL) ORDER BY id DESC LIMIT $4");
    const COUNT_OPEN: &str = "SELECT COUNT(*) FROM paced_runs WHERE tenant_id = $1 AND state = 'open'";
    const DUE: &str = "SELECT tenant_id, id FROM paced_runs WHERE state = 'open' AND start_at <= $1 \
         AND (tenant_id, id) > ($2, $3) ORDER BY tenant_id, id LIMIT $4";
    // A key that made another run changes nothing.
    const INSERT: &str = "INSERT INTO paced_runs (tenant_id, id, caller, idempotency_key, at_a_time, start_at, state, \
         created_at) VALUES ($1, $2, $3, $4, $5, $6, 'open', $7) ON CONFLICT (tenant_id, idempotency_key) DO NOTHING";
    const INSERT_SESSIONS_SQLITE: &str = "INSERT INTO paced_run_sessions (tenant_id, run_id, position, session_id, \
         outcome) SELECT $1, $2, key, unhex(value), 'waiting' FROM json_each($3)";
    const INSERT_SESSIONS_POSTGRES: &str = "INSERT INTO paced_run_sessions (tenant_id, run_id, position, session_id, \
         outcome) SELECT $1::uuid, $2::uuid, w.number - 1, w.id, 'waiting' FROM unnest($3::uuid[]) WITH ORDINALITY AS w (id, number)";
    const SESSIONS: &str = "SELECT p.position, p.session_id, p.outcome, p.new_session_id, s.status, p.reason \
         FROM paced_run_sessions p LEFT JOIN sessions s ON s.tenant_id = p.tenant_id AND s.id = p.new_session_id \
         WHERE p.tenant_id = $1 AND p.run_id = $2 ORDER BY p.position";
    const WAITING: &str = "SELECT position, session_id FROM paced_run_sessions \
         WHERE tenant_id = $1 AND run_id = $2 AND outcome = 'waiting' ORDER BY position LIMIT $3";
    const COUNTS_SQLITE: &str = counts_select!("IN (SELECT unhex(value) FROM json_each($2))");
    const COUNTS_POSTGRES: &str = counts_select!("= ANY($2)");
    // A session that a step has started is started, even if the run was cancelled during the step.
    const SETTLE: &str = "UPDATE paced_run_sessions SET outcome = $4, new_session_id = $5, reason = $6 \
         WHERE tenant_id = $1 AND run_id = $2 AND position = $3 \
         AND (outcome = 'waiting' OR (outcome = 'cancelled' AND $4 = 'started'))";
    const CANCEL_WAITING: &str = "UPDATE paced_run_sessions SET outcome = 'cancelled' \
         WHERE tenant_id = $1 AND run_id = $2 AND outcome = 'waiting'";
    const CANCEL: &str = "UPDATE paced_runs SET state = 'cancelled', ended_at = $3 \
         WHERE tenant_id = $1 AND id = $2 AND state = 'open'";
    const FINISH: &str = "UPDATE paced_runs SET state = 'done', ended_at = $3 WHERE tenant_id = $1 AND id = $2 \
         AND state = 'open' AND NOT EXISTS (SELECT 1 FROM paced_run_sessions p WHERE p.tenant_id = $1 \
         AND p.run_id = $2 AND p.outcome = 'waiting')";
    const DELETE_SESSIONS: &str = "DELETE FROM paced_run_sessions WHERE tenant_id = $1 AND run_id IN \
         (SELECT id FROM paced_runs WHERE tenant_id = $1 AND ended_at < $2)";
    const DELETE_ENDED: &str = "DELETE FROM paced_runs WHERE tenant_id = $1 AND ended_at < $2";
}

record! {
    /// A paced run without its sessions.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PacedRunRecord of "paced_runs" {
        /// Identifies the paced run.
        pub id: PacedRunId,
        /// Who asked for it: `user:…` or `token:…`.
        pub caller: String,
        /// Key of the request that made it.
        pub idempotency_key: Option<String>,
        /// How many of its new sessions are queued or running at a time.
        pub at_a_time: u32,
        /// Time from which sessions are started (UTC).
        pub start_at: Timestamp,
        /// Whether it has sessions left to start.
        pub state: State,
        /// Time it was asked for (UTC).
        pub created_at: Timestamp,
        /// Time its last session was started, or it was cancelled (UTC); `None` while it is open.
        pub ended_at: Option<Timestamp>,
    }
}

record! {
    /// One session of a paced run.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PacedSessionRecord of "paced_run_sessions" {
        /// Its place in the order of the request; the first is 0.
        pub position: u32,
        /// The session that is run again.
        pub session_id: SessionId,
        /// Whether it waits, was started, or why it was not.
        pub outcome: Outcome,
        /// The session that runs it again.
        pub new_session_id: Option<SessionId>,
        /// Status of that session now.
        pub status: Option<Status>,
        /// Why it cannot be run again.
        pub reason: Option<String>,
    }
}

/// What became of a session of a paced run that waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacedOutcome {
    /// Its place in the order of the request.
    pub position: i64,
    /// Whether it was started, or why it was not.
    pub outcome: Outcome,
    /// The session that runs it again.
    pub new_session_id: Option<SessionId>,
    /// Why it cannot be run again.
    pub reason: Option<String>,
}

record! {
    /// How many sessions of a paced run have an outcome, by the status of the new session.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PacedCountRecord of "paced_run_sessions" {
        /// The paced run.
        pub run_id: PacedRunId,
        /// What became of the sessions.
        pub outcome: Outcome,
        /// Status of the new sessions; `None` if there are none.
        pub status: Option<Status>,
        /// Number of sessions.
        pub count: u64,
    }
}

type One<T> = (T,);

/// A paced run of this workspace.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, id: PacedRunId) -> Result<Option<PacedRunRecord>> {
    Ok(run!(conn, fetch_optional PacedRunRecord, BY_ID, tenant_id.0, id.0)?)
}

/// The same, locked until the transaction ends. SQLite has one writer and needs no lock.
pub async fn find_locked(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: PacedRunId) -> Result<Option<PacedRunRecord>> {
    let sql = if matches!(tx.conn(), Conn::Sqlite(_)) { BY_ID } else { BY_ID_LOCKED_POSTGRES };
    Ok(run!(tx.conn(), fetch_optional PacedRunRecord, sql, tenant_id.0, id.0)?)
}

/// The paced run that a request with this key made.
pub async fn find_by_key(conn: &mut Conn<'_>, tenant_id: TenantId, key: &str) -> Result<Option<PacedRunRecord>> {
    Ok(run!(conn, fetch_optional PacedRunRecord, BY_KEY, tenant_id.0, key)?)
}

/// One page of the paced runs of a workspace before an id, newest first. `caller` selects those of one caller.
pub async fn list(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    caller: Option<&str>,
    before: Option<PacedRunId>,
    limit: u32,
) -> Result<Page<PacedRunRecord>> {
    let (before, more) = (before.map(|id| id.0), i64::from(limit) + 1);
    let rows = run!(conn, fetch_all PacedRunRecord, LIST, tenant_id.0, before, caller, more)?;
    Ok(Page::of(rows, limit))
}

/// Number of paced runs of a workspace that have sessions left to start.
pub async fn count_open(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<u64> {
    let (count,) = run!(conn, fetch_one One<i64>, COUNT_OPEN, tenant_id.0)?;
    Ok(count.cast_unsigned())
}

/// Paced runs of every workspace that have sessions left to start and whose time has come, after `after` in the order
/// of workspace and id.
pub async fn due(
    conn: &mut Conn<'_>,
    now: Timestamp,
    after: Option<(TenantId, PacedRunId)>,
    max: u32,
) -> Result<Vec<(TenantId, PacedRunId)>> {
    let (tenant, id) = after.map_or((Uuid::nil(), Uuid::nil()), |(tenant_id, id)| (tenant_id.0, id.0));
    let rows = run!(conn, fetch_all(Uuid, Uuid), DUE, to_micros(now), tenant, id, i64::from(max))?;
    Ok(rows.into_iter().map(|(tenant, id)| (TenantId(tenant), PacedRunId(id))).collect())
}

/// Adds a paced run without sessions. Returns whether it was added: a key makes one run.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, new: &PacedRunRecord) -> Result<bool> {
    let added = run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        new.id.0,
        new.caller.as_str(),
        new.idempotency_key.as_deref(),
        i64::from(new.at_a_time),
        to_micros(new.start_at),
        to_micros(new.created_at),
    )?;
    Ok(added > 0)
}

/// Adds the sessions of a paced run, which wait in this order.
pub async fn insert_sessions(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: PacedRunId,
    sessions: &[SessionId],
) -> Result<()> {
    match tx.conn() {
        Conn::Sqlite(c) => {
            let ids = hex_list(sessions.iter().map(|id| id.0));
            c.execute(INSERT_SESSIONS_SQLITE, &[&tenant_id.0, &id.0, &ids])?;
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = sessions.iter().map(|id| id.0).collect();
            sqlx::query(INSERT_SESSIONS_POSTGRES).bind(tenant_id.0).bind(id.0).bind(ids).execute(&mut **c).await?;
        }
    }
    Ok(())
}

/// Ids as SQLite takes a list of them.
fn hex_list(ids: impl Iterator<Item = Uuid>) -> String {
    serde_json::Value::from(ids.map(|id| id.simple().to_string()).collect::<Vec<_>>()).to_string()
}

/// The sessions of a paced run in their order, each with the present status of the session that runs it again.
pub async fn sessions(conn: &mut Conn<'_>, tenant_id: TenantId, id: PacedRunId) -> Result<Vec<PacedSessionRecord>> {
    Ok(run!(conn, fetch_all PacedSessionRecord, SESSIONS, tenant_id.0, id.0)?)
}

/// The first `max` sessions of a paced run that wait, each with its position.
pub async fn waiting(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    id: PacedRunId,
    max: u32,
) -> Result<Vec<(i64, SessionId)>> {
    let rows = run!(conn, fetch_all(i64, Uuid), WAITING, tenant_id.0, id.0, i64::from(max))?;
    Ok(rows.into_iter().map(|(position, id)| (position, SessionId(id))).collect())
}

/// How many sessions of these paced runs have which outcome.
pub async fn counts(conn: &mut Conn<'_>, tenant_id: TenantId, ids: &[PacedRunId]) -> Result<Vec<PacedCountRecord>> {
    Ok(match conn {
        Conn::Sqlite(c) => {
            let ids = hex_list(ids.iter().map(|id| id.0));
            c.fetch_all::<PacedCountRecord>(COUNTS_SQLITE, &[&tenant_id.0, &ids])?
        }
        Conn::Postgres(c) => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            sqlx::query_as(COUNTS_POSTGRES).bind(tenant_id.0).bind(ids).fetch_all(&mut **c).await?
        }
    })
}

/// Records what became of a session that waited.
pub async fn settle(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: PacedRunId, to: &PacedOutcome) -> Result<()> {
    let (outcome, new) = (to.outcome.as_str(), to.new_session_id.map(|id| id.0));
    run!(tx.conn(), execute, SETTLE, tenant_id.0, id.0, to.position, outcome, new, to.reason.as_deref())?;
    Ok(())
}

/// Ends a paced run that has no session left to start.
pub async fn finish(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: PacedRunId, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, FINISH, tenant_id.0, id.0, to_micros(at))?;
    Ok(())
}

/// Cancels a paced run that is open, with its sessions that wait.
pub async fn cancel(tx: &mut WriteTx<'_>, tenant_id: TenantId, id: PacedRunId, at: Timestamp) -> Result<()> {
    if run!(tx.conn(), execute, CANCEL, tenant_id.0, id.0, to_micros(at))? > 0 {
        run!(tx.conn(), execute, CANCEL_WAITING, tenant_id.0, id.0)?;
    }
    Ok(())
}

/// Deletes the paced runs of a workspace that ended before this time.
pub async fn delete_ended(tx: &mut WriteTx<'_>, tenant_id: TenantId, before: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, DELETE_SESSIONS, tenant_id.0, to_micros(before))?;
    run!(tx.conn(), execute, DELETE_ENDED, tenant_id.0, to_micros(before))?;
    Ok(())
}
