//! Rows of `memory_writers`: the lease of each agent's writer, when it runs again, and what it has spent today.

use crate::{
    engine::{Conn, Error, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::TenantId,
};

statements! {
    const ENSURE: &str = "INSERT INTO memory_writers (tenant_id, agent, tracked_until, failures, day, runs, tokens) \
         VALUES ($1, $2, $3, 0, 0, 0, 0) ON CONFLICT (tenant_id, agent) DO NOTHING";
    const FIND: &str = "SELECT owner, lease_until, tracked_until, flush_at, retry_at, failures, failed_runs, parked_at, day, \
         runs, tokens FROM memory_writers WHERE tenant_id = $1 AND agent = $2";
    const STALLED: &str = "SELECT m.agent, m.retry_at, m.failures, m.parked_at, w.retry_at AS window_retry_at, \
         w.failures AS window_failures, w.parked_at AS window_parked_at, w.parked, (SELECT r.error FROM memory_runs r \
         WHERE r.tenant_id = m.tenant_id AND r.agent = m.agent AND r.state <> 'succeeded' ORDER BY r.id DESC LIMIT 1) AS error \
         FROM memory_writers m LEFT JOIN (SELECT agent, MIN(retry_at) AS retry_at, MAX(failures) AS failures, \
         MIN(parked_at) AS parked_at, COUNT(parked_at) AS parked FROM memory_watermarks \
         WHERE tenant_id = $1 AND is_alone = 1 GROUP BY agent) w ON w.agent = m.agent \
         WHERE m.tenant_id = $1 AND (m.parked_at IS NOT NULL OR m.retry_at IS NOT NULL \
         OR w.parked_at IS NOT NULL OR w.retry_at IS NOT NULL) ORDER BY m.agent LIMIT $2";
    // `STALLED` for one agent: a page of that agent must not depend on how many others wait.
    const STALLED_OF: &str = "SELECT m.agent, m.retry_at, m.failures, m.parked_at, w.retry_at AS window_retry_at, \
         w.failures AS window_failures, w.parked_at AS window_parked_at, w.parked, (SELECT r.error FROM memory_runs r \
         WHERE r.tenant_id = m.tenant_id AND r.agent = m.agent AND r.state <> 'succeeded' ORDER BY r.id DESC LIMIT 1) AS error \
         FROM memory_writers m LEFT JOIN (SELECT agent, MIN(retry_at) AS retry_at, MAX(failures) AS failures, \
         MIN(parked_at) AS parked_at, COUNT(parked_at) AS parked FROM memory_watermarks \
         WHERE tenant_id = $1 AND is_alone = 1 AND agent = $2 GROUP BY agent) w ON w.agent = m.agent \
         WHERE m.tenant_id = $1 AND m.agent = $2 AND (m.parked_at IS NOT NULL OR m.retry_at IS NOT NULL \
         OR w.parked_at IS NOT NULL OR w.retry_at IS NOT NULL)";
    const TAKE: &str = "UPDATE memory_writers SET owner = $3, lease_until = $4 \
         WHERE tenant_id = $1 AND agent = $2 AND (owner IS NULL OR lease_until <= $5)";
    const HOLD: &str = "UPDATE memory_writers SET lease_until = $4 WHERE tenant_id = $1 AND agent = $2 AND owner = $3";
    const RELEASE: &str = "UPDATE memory_writers SET owner = NULL, lease_until = NULL \
         WHERE tenant_id = $1 AND agent = $2 AND owner = $3";
    const RELEASE_ALL: &str = "UPDATE memory_writers SET owner = NULL, lease_until = NULL WHERE owner IS NOT NULL";
    // Every row is locked, so that a writer that is about to take its lease has it first, and loses it.
    const END_LEASES: &str = "UPDATE memory_writers SET owner = NULL, lease_until = NULL \
         WHERE tenant_id = $1 AND (agent = $2 OR $2 IS NULL)";
    const TRACKED: &str = "UPDATE memory_writers SET tracked_until = $3 WHERE tenant_id = $1 AND agent = $2";
    const FLUSH: &str = "UPDATE memory_writers SET flush_at = $3, retry_at = NULL, failures = 0, failed_runs = 0, \
         parked_at = NULL WHERE tenant_id = $1 AND agent = $2";
    const UNFLUSH: &str =
        "UPDATE memory_writers SET flush_at = NULL WHERE tenant_id = $1 AND agent = $2 AND flush_at = $3";
    const FINISH: &str = "UPDATE memory_writers SET flush_at = CASE WHEN flush_at <= $3 THEN NULL ELSE flush_at END, \
         retry_at = NULL, failures = $4, failed_runs = $5, parked_at = NULL, day = $6, runs = $7, tokens = $8 \
         WHERE tenant_id = $1 AND agent = $2";
    const FAIL: &str = "UPDATE memory_writers SET retry_at = $3, failures = $4, failed_runs = $5, parked_at = $6, day = $7, \
         runs = $8, tokens = $9 WHERE tenant_id = $1 AND agent = $2";
    const SPEND: &str = "UPDATE memory_writers SET runs = CASE WHEN day = $3 THEN runs ELSE 0 END, \
         tokens = CASE WHEN day = $3 THEN tokens ELSE 0 END + $4, day = $3 WHERE tenant_id = $1 AND agent = $2";
}

/// What an agent's writer has spent on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Days since 1970-01-01 (UTC).
    pub day: i64,
    /// Number of runs that asked the model.
    pub runs: u32,
    /// Tokens, input and output together.
    pub tokens: u64,
}

/// Which server works for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Token of the server.
    pub owner: String,
    /// End of the lease (UTC).
    pub until: Timestamp,
}

/// The writer of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriterRecord {
    /// The lease; `None` while no server works for the agent.
    pub lease: Option<Lease>,
    /// Sessions that began before this time have a watermark (UTC).
    pub tracked_until: Timestamp,
    /// When a run was asked for (UTC).
    pub flush_at: Option<Timestamp>,
    /// Time before which the writer does not run, because its model could not be asked (UTC).
    pub retry_at: Option<Timestamp>,
    /// Failures in a row that stopped the writer as a whole, or make it wait.
    pub failures: u32,
    /// Failed runs in a row whose model answered, of whatever sessions.
    pub failed_runs: u32,
    /// When the writer as a whole was parked for a person (UTC).
    pub parked_at: Option<Timestamp>,
    /// What was spent on the last day with a run.
    pub spent: Spent,
}

/// What a run that succeeded does to the writer of its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriterSuccess {
    /// Time up to which requests for a run are done (UTC); `None` if they stay.
    pub served: Option<Timestamp>,
    /// Failures in a row that stopped the writer as a whole, or make it wait.
    pub failures: u32,
    /// Failed runs in a row whose model answered, of whatever sessions.
    pub failed_runs: u32,
}

/// What a failed run does to the writer of its agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriterFailure {
    /// Time before which the writer does not run (UTC); `None` if it continues with other sessions or is parked.
    pub retry_at: Option<Timestamp>,
    /// Failures in a row that stopped the writer as a whole, or make it wait.
    pub failures: u32,
    /// Failed runs in a row whose model answered, of whatever sessions.
    pub failed_runs: u32,
    /// When the writer as a whole was parked for a person (UTC).
    pub parked_at: Option<Timestamp>,
}

/// A writer that waits after failures, or that has sessions which wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StalledRecord {
    /// Slug of the agent.
    pub agent: String,
    /// Time before which the writer does not run, or else the first of its sessions is not tried again (UTC).
    pub retry_at: Option<Timestamp>,
    /// Failed runs in a row: of the writer, or the most of one of its sessions.
    pub failures: u32,
    /// When the writer as a whole, or else the first of its sessions, was parked for a person (UTC).
    pub parked_at: Option<Timestamp>,
    /// Number of parked sessions, while the writer continues with others. 0 if it is parked as a whole.
    pub parked_sessions: u64,
    /// Why the last run that failed did.
    pub error: Option<String>,
}

record! {
    struct Row of "memory_writers" {
        owner: Option<String>,
        lease_until: Option<i64>,
        tracked_until: Timestamp,
        flush_at: Option<Timestamp>,
        retry_at: Option<i64>,
        failures: i64,
        failed_runs: u32,
        parked_at: Option<i64>,
        day: i64,
        runs: u32,
        tokens: u64,
    }
}

record! {
    struct StalledRow of "memory_writers" {
        agent: String,
        retry_at: Option<i64>,
        failures: i64,
        parked_at: Option<i64>,
        window_retry_at: Option<i64>,
        window_failures: Option<i64>,
        window_parked_at: Option<i64>,
        parked: Option<i64>,
        error: Option<String>,
    }
}

impl TryFrom<StalledRow> for StalledRecord {
    type Error = Error;

    fn try_from(row: StalledRow) -> Result<Self> {
        let is_whole = row.parked_at.is_some();
        let window_failures = if is_whole { 0 } else { row.window_failures.unwrap_or_default() };
        // Sessions of a window that is halved count no failures of their own, but one run has failed.
        let failures = row.failures.max(window_failures).max(1);
        Ok(Self {
            agent: row.agent,
            retry_at: row.retry_at.or(row.window_retry_at).map(from_micros),
            failures: u32::try_from(failures)
                .map_err(|_| Error::inconsistent("memory_writers", "failures", failures))?,
            parked_at: row.parked_at.or(row.window_parked_at).map(from_micros),
            parked_sessions: if is_whole { 0 } else { row.parked.unwrap_or_default().cast_unsigned() },
            error: row.error,
        })
    }
}

impl TryFrom<Row> for WriterRecord {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = |column, value: &dyn std::fmt::Debug| Error::inconsistent("memory_writers", column, value);
        let lease = row.owner.zip(row.lease_until).map(|(owner, until)| Lease { owner, until: from_micros(until) });
        Ok(Self {
            lease,
            tracked_until: row.tracked_until,
            flush_at: row.flush_at,
            retry_at: row.retry_at.map(from_micros),
            failures: u32::try_from(row.failures).map_err(|_| bad("failures", &row.failures))?,
            failed_runs: row.failed_runs,
            parked_at: row.parked_at.map(from_micros),
            spent: Spent { day: row.day, runs: row.runs, tokens: row.tokens },
        })
    }
}

/// Makes the row of an agent's writer, unless there is one. Sessions that began before `since` are not summarised.
pub async fn ensure(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, since: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, ENSURE, tenant_id.0, agent, to_micros(since))?;
    Ok(())
}

/// The writer of an agent.
pub async fn find(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str) -> Result<Option<WriterRecord>> {
    run!(conn, fetch_optional Row, FIND, tenant_id.0, agent)?.map(WriterRecord::try_from).transpose()
}

/// The writers of a workspace that wait after failures, or that have sessions which wait, by agent.
pub async fn stalled(conn: &mut Conn<'_>, tenant_id: TenantId, limit: u32) -> Result<Vec<StalledRecord>> {
    let rows = run!(conn, fetch_all StalledRow, STALLED, tenant_id.0, i64::from(limit))?;
    rows.into_iter().map(StalledRecord::try_from).collect()
}

/// The writer of an agent, if it waits after failures or has sessions which wait.
pub async fn stalled_of(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str) -> Result<Option<StalledRecord>> {
    let row = run!(conn, fetch_optional StalledRow, STALLED_OF, tenant_id.0, agent)?;
    row.map(StalledRecord::try_from).transpose()
}

/// Takes the lease. Returns `false` while another server holds it at `now`.
pub async fn take(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    lease: &Lease,
    now: Timestamp,
) -> Result<bool> {
    let (owner, until) = (lease.owner.as_str(), lease.until);
    let taken = run!(tx.conn(), execute, TAKE, tenant_id.0, agent, owner, to_micros(until), to_micros(now))?;
    Ok(taken == 1)
}

/// Extends the lease and locks the row. Returns `false` if another server has taken it.
pub async fn hold(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, lease: &Lease) -> Result<bool> {
    let (owner, until) = (lease.owner.as_str(), to_micros(lease.until));
    Ok(run!(tx.conn(), execute, HOLD, tenant_id.0, agent, owner, until)? == 1)
}

/// Gives the lease up, if this server holds it.
pub async fn release(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, owner: &str) -> Result<()> {
    run!(tx.conn(), execute, RELEASE, tenant_id.0, agent, owner)?;
    Ok(())
}

/// Ends the lease of an agent, or of all agents of a workspace: runs that continue write nothing.
pub async fn end_leases(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: Option<&str>) -> Result<()> {
    run!(tx.conn(), execute, END_LEASES, tenant_id.0, agent)?;
    Ok(())
}

/// Ends the leases of all agents of all workspaces. For a server that knows that it is the only one.
pub async fn release_all(tx: &mut WriteTx<'_>) -> Result<()> {
    run!(tx.conn(), execute, RELEASE_ALL)?;
    Ok(())
}

/// Records that the sessions that began before `until` have a watermark.
pub async fn tracked(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, until: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, TRACKED, tenant_id.0, agent, to_micros(until))?;
    Ok(())
}

/// Asks for a run, also of a writer that is parked.
pub async fn flush(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, FLUSH, tenant_id.0, agent, to_micros(at))?;
    Ok(())
}

/// Forgets the request of this time, because there is nothing to read. A later request stays.
pub async fn unflush(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, UNFLUSH, tenant_id.0, agent, to_micros(at))?;
    Ok(())
}

/// Records a run that succeeded. Requests for a run that were made after `served` stay for the next window. A run that
/// did not ask the model keeps the failures and failed runs in a row.
pub async fn finish(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    success: WriterSuccess,
    spent: Spent,
) -> Result<()> {
    let (served, failures) = (success.served.map(to_micros), i64::from(success.failures));
    let failed_runs = i64::from(success.failed_runs);
    let (day, runs, tokens) = (spent.day, i64::from(spent.runs), spent.tokens.cast_signed());
    run!(tx.conn(), execute, FINISH, tenant_id.0, agent, served, failures, failed_runs, day, runs, tokens)?;
    Ok(())
}

/// Adds tokens to what an agent's writer has spent on this day (days since 1970-01-01, UTC). What it spent on another
/// day is forgotten. Does nothing if the agent has no writer.
pub async fn spend(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, (day, tokens): (i64, u64)) -> Result<()> {
    run!(tx.conn(), execute, SPEND, tenant_id.0, agent, day, tokens.cast_signed())?;
    Ok(())
}

/// Records a run that failed.
pub async fn fail(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    failure: WriterFailure,
    spent: Spent,
) -> Result<()> {
    let (retry_at, parked_at) = (failure.retry_at.map(to_micros), failure.parked_at.map(to_micros));
    let (failures, failed_runs) = (i64::from(failure.failures), i64::from(failure.failed_runs));
    let (day, runs, tokens) = (spent.day, i64::from(spent.runs), spent.tokens.cast_signed());
    let tenant = tenant_id.0;
    run!(tx.conn(), execute, FAIL, tenant, agent, retry_at, failures, failed_runs, parked_at, day, runs, tokens)?;
    Ok(())
}
