//! Rows of `memory_writers`: the lease of each agent's writer, when it runs again, and what it has spent today.

use crate::{
    engine::{Conn, Error, Result, Texts, row, run},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::TenantId,
};

const ENSURE: &str = "INSERT INTO memory_writers (tenant_id, agent, tracked_until, failures, day, runs, tokens) \
     VALUES ($1, $2, $3, 0, 0, 0, 0) ON CONFLICT (tenant_id, agent) DO NOTHING";
const FIND: &str = "SELECT owner, lease_until, tracked_until, flush_at, retry_at, failures, parked_at, day, runs, tokens \
     FROM memory_writers WHERE tenant_id = $1 AND agent = $2";
const STALLED: &str = "SELECT agent, retry_at, failures, parked_at, (SELECT error FROM memory_runs \
     WHERE memory_runs.tenant_id = memory_writers.tenant_id AND memory_runs.agent = memory_writers.agent \
     ORDER BY memory_runs.id DESC LIMIT 1) FROM memory_writers \
     WHERE tenant_id = $1 AND (parked_at IS NOT NULL OR retry_at IS NOT NULL) ORDER BY agent LIMIT $2";
const TAKE: &str = "UPDATE memory_writers SET owner = $3, lease_until = $4 \
     WHERE tenant_id = $1 AND agent = $2 AND (owner IS NULL OR lease_until <= $5)";
const HOLD: &str = "UPDATE memory_writers SET lease_until = $4 WHERE tenant_id = $1 AND agent = $2 AND owner = $3";
const RELEASE: &str = "UPDATE memory_writers SET owner = NULL, lease_until = NULL \
     WHERE tenant_id = $1 AND agent = $2 AND owner = $3";
const RELEASE_ALL: &str = "UPDATE memory_writers SET owner = NULL, lease_until = NULL WHERE owner IS NOT NULL";
const TRACKED: &str = "UPDATE memory_writers SET tracked_until = $3 WHERE tenant_id = $1 AND agent = $2";
const FLUSH: &str = "UPDATE memory_writers SET flush_at = $3, retry_at = NULL, failures = 0, parked_at = NULL \
     WHERE tenant_id = $1 AND agent = $2";
const UNFLUSH: &str = "UPDATE memory_writers SET flush_at = NULL WHERE tenant_id = $1 AND agent = $2 AND flush_at = $3";
// A flush that was asked for after the run began stays for the next one.
const FINISH: &str = "UPDATE memory_writers SET flush_at = CASE WHEN flush_at > $3 THEN flush_at ELSE NULL END, \
     retry_at = NULL, failures = 0, parked_at = NULL, day = $4, runs = $5, tokens = $6 WHERE tenant_id = $1 AND agent = $2";
const FAIL: &str = "UPDATE memory_writers SET retry_at = $3, failures = $4, parked_at = $5, day = $6, runs = $7, tokens = $8 \
     WHERE tenant_id = $1 AND agent = $2";

pub(crate) const SQL: Texts = &[
    ("memory_writer::writer::ENSURE", ENSURE),
    ("memory_writer::writer::FIND", FIND),
    ("memory_writer::writer::STALLED", STALLED),
    ("memory_writer::writer::TAKE", TAKE),
    ("memory_writer::writer::HOLD", HOLD),
    ("memory_writer::writer::RELEASE", RELEASE),
    ("memory_writer::writer::RELEASE_ALL", RELEASE_ALL),
    ("memory_writer::writer::TRACKED", TRACKED),
    ("memory_writer::writer::FLUSH", FLUSH),
    ("memory_writer::writer::UNFLUSH", UNFLUSH),
    ("memory_writer::writer::FINISH", FINISH),
    ("memory_writer::writer::FAIL", FAIL),
];

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
    /// Time before which a failed window is not tried again (UTC).
    pub retry_at: Option<Timestamp>,
    /// Failed runs in a row.
    pub failures: u32,
    /// When the window was parked for a person (UTC).
    pub parked_at: Option<Timestamp>,
    /// What was spent on the last day with a run.
    pub spent: Spent,
}

/// A writer that waits after failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StalledRecord {
    /// Slug of the agent.
    pub agent: String,
    /// Time before which the failed window is not tried again (UTC).
    pub retry_at: Option<Timestamp>,
    /// Failed runs in a row.
    pub failures: u32,
    /// When the window was parked for a person (UTC).
    pub parked_at: Option<Timestamp>,
    /// Why the last run failed.
    pub error: Option<String>,
}

row! {
    struct Row {
        owner: Option<String>,
        lease_until: Option<i64>,
        tracked_until: i64,
        flush_at: Option<i64>,
        retry_at: Option<i64>,
        failures: i64,
        parked_at: Option<i64>,
        day: i64,
        runs: i64,
        tokens: i64,
    }
}

impl TryFrom<Row> for WriterRecord {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self> {
        let bad = |column, value: &dyn std::fmt::Debug| Error::inconsistent("memory_writers", column, value);
        let lease = row.owner.zip(row.lease_until).map(|(owner, until)| Lease { owner, until: from_micros(until) });
        Ok(Self {
            lease,
            tracked_until: from_micros(row.tracked_until),
            flush_at: row.flush_at.map(from_micros),
            retry_at: row.retry_at.map(from_micros),
            failures: u32::try_from(row.failures).map_err(|_| bad("failures", &row.failures))?,
            parked_at: row.parked_at.map(from_micros),
            spent: Spent {
                day: row.day,
                runs: u32::try_from(row.runs).map_err(|_| bad("runs", &row.runs))?,
                tokens: u64::try_from(row.tokens).map_err(|_| bad("tokens", &row.tokens))?,
            },
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

/// The writers of a workspace that wait after failures, by agent.
pub async fn stalled(conn: &mut Conn<'_>, tenant_id: TenantId, limit: u32) -> Result<Vec<StalledRecord>> {
    type Stalled = (String, Option<i64>, i64, Option<i64>, Option<String>);
    let rows = run!(conn, fetch_all Stalled, STALLED, tenant_id.0, i64::from(limit))?;
    let record = |(agent, retry_at, failures, parked_at, error): Stalled| -> Result<StalledRecord> {
        let bad = |_| Error::inconsistent("memory_writers", "failures", failures);
        Ok(StalledRecord {
            agent,
            retry_at: retry_at.map(from_micros),
            failures: u32::try_from(failures).map_err(bad)?,
            parked_at: parked_at.map(from_micros),
            error,
        })
    };
    rows.into_iter().map(record).collect()
}

/// Takes the lease until `until`. Returns `false` while another server holds it.
pub async fn take(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    (owner, now, until): (&str, Timestamp, Timestamp),
) -> Result<bool> {
    let taken = run!(tx.conn(), execute, TAKE, tenant_id.0, agent, owner, to_micros(until), to_micros(now))?;
    Ok(taken == 1)
}

/// Extends the lease and locks the row. Returns `false` if another server has taken it.
pub async fn hold(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    (owner, until): (&str, Timestamp),
) -> Result<bool> {
    Ok(run!(tx.conn(), execute, HOLD, tenant_id.0, agent, owner, to_micros(until))? == 1)
}

/// Gives the lease up, if this server holds it.
pub async fn release(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, owner: &str) -> Result<()> {
    run!(tx.conn(), execute, RELEASE, tenant_id.0, agent, owner)?;
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

/// Asks for a run, also of a parked window.
pub async fn flush(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, FLUSH, tenant_id.0, agent, to_micros(at))?;
    Ok(())
}

/// Forgets the request of this time, because there is nothing to read. A later request stays.
pub async fn unflush(tx: &mut WriteTx<'_>, tenant_id: TenantId, agent: &str, at: Timestamp) -> Result<()> {
    run!(tx.conn(), execute, UNFLUSH, tenant_id.0, agent, to_micros(at))?;
    Ok(())
}

/// Records a run that succeeded. `began` is the time at which it read its window.
pub async fn finish(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    began: Timestamp,
    spent: Spent,
) -> Result<()> {
    let (runs, tokens) = (i64::from(spent.runs), spent.tokens.cast_signed());
    run!(tx.conn(), execute, FINISH, tenant_id.0, agent, to_micros(began), spent.day, runs, tokens)?;
    Ok(())
}

/// Records a run that failed: when it is tried again, or that it is parked.
pub async fn fail(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    agent: &str,
    (failures, retry_at, parked_at): (u32, Option<Timestamp>, Option<Timestamp>),
    spent: Spent,
) -> Result<()> {
    let (retry_at, parked_at) = (retry_at.map(to_micros), parked_at.map(to_micros));
    let (runs, tokens) = (i64::from(spent.runs), spent.tokens.cast_signed());
    let failures = i64::from(failures);
    run!(tx.conn(), execute, FAIL, tenant_id.0, agent, retry_at, failures, parked_at, spent.day, runs, tokens)?;
    Ok(())
}
