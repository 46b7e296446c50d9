//! Rows of `memory_runs`: every run of a writer, successful or not.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    chain::Digest,
    clock::to_micros,
    id::TenantId,
    memory_writer::run::{RunCause, RunState},
};
use uuid::Uuid;

statements! {
    const INSERT: &str = "INSERT INTO memory_runs (tenant_id, id, agent, cause, state, covers, window_key, turns, proposals, \
         written, error, model, input_tokens, output_tokens, cost_usd, started_at, ended_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    const LIST: &str = "SELECT id, agent, cause, state, covers AS window, window_key, turns, proposals, written, error, model, \
         input_tokens, output_tokens, cost_usd, started_at, ended_at FROM memory_runs \
         WHERE tenant_id = $1 AND agent = $2 ORDER BY id DESC LIMIT $3";

    const TOTALS: &str = "SELECT agent, COUNT(*), COUNT(CASE WHEN state = 'succeeded' THEN 1 END), \
         CAST(SUM(input_tokens) AS bigint), CAST(SUM(output_tokens) AS bigint), SUM(cost_usd) FROM memory_runs \
         WHERE tenant_id = $1 AND id >= $2 GROUP BY agent ORDER BY agent LIMIT $3";
}

/// Most agents whose runs are counted.
const AGENTS_MAX: i64 = 1_000;

record! {
    /// A run of a writer.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RunRecord of "memory_runs" {
        /// Id of the run, a UUIDv7.
        pub id: Uuid,
        /// Slug of the agent.
        pub agent: String,
        /// What started it.
        pub cause: RunCause,
        /// Whether the run succeeded, failed, or parked its window after too many failures.
        pub state: RunState,
        /// JSON array of `{session, after, upto}`.
        pub window: String,
        /// Digest of the window and the prompt's version.
        pub window_key: Digest,
        /// Number of turns.
        pub turns: u32,
        /// Number of proposals that wait for a review.
        pub proposals: u32,
        /// Number of documents that were written without a review.
        pub written: u32,
        /// Reason of the failure, as text for people. Of a run that succeeded: what of the answer was left out, and
        /// why.
        pub error: Option<String>,
        /// Name of the model.
        pub model: String,
        /// Tokens that the model read, of all requests; `None` if its service did not report those of every answer.
        pub input_tokens: Option<u64>,
        /// Tokens that the model wrote, likewise.
        pub output_tokens: Option<u64>,
        /// Cost in US dollars, if the tokens and the model's prices are known.
        pub cost_usd: Option<f64>,
        /// When it began (UTC).
        pub started_at: Timestamp,
        /// When it ended (UTC).
        pub ended_at: Timestamp,
    }
}

/// Adds a run.
pub async fn insert_run(tx: &mut WriteTx<'_>, tenant_id: TenantId, new: &RunRecord) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        new.id,
        new.agent.as_str(),
        new.cause.as_str(),
        new.state.as_str(),
        new.window.as_str(),
        &new.window_key.0[..],
        i64::from(new.turns),
        i64::from(new.proposals),
        i64::from(new.written),
        new.error.as_deref(),
        new.model.as_str(),
        new.input_tokens.map(u64::cast_signed),
        new.output_tokens.map(u64::cast_signed),
        new.cost_usd,
        to_micros(new.started_at),
        to_micros(new.ended_at),
    )?;
    Ok(())
}

/// The newest runs of an agent, newest first.
pub async fn runs(conn: &mut Conn<'_>, tenant_id: TenantId, agent: &str, limit: u32) -> Result<Vec<RunRecord>> {
    Ok(run!(conn, fetch_all RunRecord, LIST, tenant_id.0, agent, i64::from(limit))?)
}

/// What the runs of an agent's writer used.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTotals {
    /// Slug of the agent.
    pub agent: String,
    /// Number of runs.
    pub runs: u64,
    /// Of these, those that did not succeed.
    pub failed: u64,
    /// Tokens that models read in the runs whose tokens are known; `None` if those of no run are.
    pub input_tokens: Option<u64>,
    /// Tokens that models wrote, likewise.
    pub output_tokens: Option<u64>,
    /// Cost in US dollars; `None` if no run knows its cost.
    pub cost_usd: Option<f64>,
}

/// What the runs used whose ids are not less than `from`, by agent.
pub async fn totals(conn: &mut Conn<'_>, tenant_id: TenantId, from: Uuid) -> Result<Vec<RunTotals>> {
    type Totals = (String, i64, i64, Option<i64>, Option<i64>, Option<f64>);
    let rows = run!(conn, fetch_all Totals, TOTALS, tenant_id.0, from, AGENTS_MAX)?;
    let totals = rows.into_iter().map(|(agent, runs, succeeded, input, output, cost_usd)| RunTotals {
        agent,
        runs: runs.cast_unsigned(),
        failed: (runs - succeeded).cast_unsigned(),
        input_tokens: input.map(i64::cast_unsigned),
        output_tokens: output.map(i64::cast_unsigned),
        cost_usd,
    });
    Ok(totals.collect())
}
