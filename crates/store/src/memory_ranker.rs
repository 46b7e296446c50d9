//! Rows of `memory_rankers`: models that order memories, with what they were measured to be worth.

use crate::{
    engine::{Conn, Result, record, run, statements},
    transaction::WriteTx,
};
use domain::{Timestamp, clock::to_micros, id::TenantId};

statements! {
    const LIST: &str = "SELECT version, seed, samples, sessions, sessions_measured, prompts_measured, alpha, \
         formula_ndcg5, model_ndcg5, formula_recall8, model_recall8, formula_calibration, model_calibration, gain, \
         gain_low, gain_high, refusal, in_use, created_at FROM memory_rankers WHERE tenant_id = $1 \
         ORDER BY version DESC LIMIT $2";
    const IN_USE: &str = "SELECT version, alpha, model FROM memory_rankers WHERE tenant_id = $1 AND in_use";
    const NEWEST: &str = "SELECT COALESCE(MAX(version), 0) FROM memory_rankers WHERE tenant_id = $1";
    const INSERT: &str = "INSERT INTO memory_rankers (tenant_id, version, seed, samples, sessions, sessions_measured, \
         prompts_measured, alpha, formula_ndcg5, model_ndcg5, formula_recall8, model_recall8, formula_calibration, \
         model_calibration, gain, gain_low, gain_high, refusal, in_use, model, created_at) VALUES ($1, $2, $3, $4, $5, \
         $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, false, $19, $20)";
    const STOP: &str = "UPDATE memory_rankers SET in_use = false WHERE tenant_id = $1 AND in_use";
    const START: &str =
        "UPDATE memory_rankers SET in_use = true WHERE tenant_id = $1 AND version = $2 AND refusal IS NULL";
    const DUE: &str = "SELECT t.slug FROM tenants t WHERE t.slug > $1 \
         AND EXISTS (SELECT 1 FROM session_memories m WHERE m.tenant_id = t.id) AND NOT EXISTS (SELECT 1 \
         FROM memory_rankers r WHERE r.tenant_id = t.id AND r.created_at > $2) ORDER BY t.slug LIMIT $3";
    const PRUNE: &str = "DELETE FROM memory_rankers WHERE tenant_id = $1 AND version <= $2 AND NOT in_use";
}

record! {
    /// A version of the model that orders the memories of a workspace, without the model itself.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RankerRecord of "memory_rankers" {
        /// Number of the version; the first is 1.
        pub version: u64,
        /// Seed of its training.
        pub seed: u64,
        /// Samples of all sessions.
        pub samples: u64,
        /// Sessions with samples.
        pub sessions: u64,
        /// Sessions on which was measured.
        pub sessions_measured: u64,
        /// Prompts on which was measured.
        pub prompts_measured: u64,
        /// Share of the formula in the scores, from 0 to 1.
        pub alpha: f64,
        /// NDCG of the first five memories in the order of the formula.
        pub formula_ndcg5: f64,
        /// The same in the order of formula and model.
        pub model_ndcg5: f64,
        /// Share of the useful memories among the first eight in the order of the formula.
        pub formula_recall8: f64,
        /// The same in the order of formula and model.
        pub model_recall8: f64,
        /// Mean difference between the scores of the formula and the labels.
        pub formula_calibration: f64,
        /// The same of the model alone.
        pub model_calibration: f64,
        /// By how much the NDCG is larger with the model; mean of the sessions.
        pub gain: f64,
        /// Lower bound of the gain (95 %).
        pub gain_low: f64,
        /// Upper bound of the gain (95 %).
        pub gain_high: f64,
        /// Why the model may not be used; `None` if it may.
        pub refusal: Option<String>,
        /// Whether it orders memories now.
        pub in_use: bool,
        /// Time of its training (UTC).
        pub created_at: Timestamp,
    }
}

record! {
    /// The model that orders the memories of a workspace.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RankerInUse of "memory_rankers" {
        /// Number of the version.
        pub version: u64,
        /// Share of the formula in the scores, from 0 to 1.
        pub alpha: f64,
        /// The model as it is stored.
        pub model: Vec<u8>,
    }
}

/// The newest versions of a workspace, newest first.
pub async fn list(conn: &mut Conn<'_>, tenant_id: TenantId, limit: u32) -> Result<Vec<RankerRecord>> {
    Ok(run!(conn, fetch_all RankerRecord, LIST, tenant_id.0, i64::from(limit))?)
}

/// The version that orders memories; `None` if the formula alone does.
pub async fn in_use(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<Option<RankerInUse>> {
    Ok(run!(conn, fetch_optional RankerInUse, IN_USE, tenant_id.0)?)
}

/// Number of the newest version; 0 if there is none.
pub async fn newest(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<u64> {
    Ok(run!(conn, fetch_one(i64,), NEWEST, tenant_id.0)?.0.cast_unsigned())
}

/// Stores a version that is not in use, whatever the record says.
pub async fn insert(tx: &mut WriteTx<'_>, tenant_id: TenantId, ranker: &RankerRecord, model: &[u8]) -> Result<()> {
    run!(
        tx.conn(),
        execute,
        INSERT,
        tenant_id.0,
        ranker.version.cast_signed(),
        ranker.seed.cast_signed(),
        ranker.samples.cast_signed(),
        ranker.sessions.cast_signed(),
        ranker.sessions_measured.cast_signed(),
        ranker.prompts_measured.cast_signed(),
        ranker.alpha,
        ranker.formula_ndcg5,
        ranker.model_ndcg5,
        ranker.formula_recall8,
        ranker.model_recall8,
        ranker.formula_calibration,
        ranker.model_calibration,
        ranker.gain,
        ranker.gain_low,
        ranker.gain_high,
        ranker.refusal.as_deref(),
        model.to_vec(),
        to_micros(ranker.created_at),
    )?;
    Ok(())
}

/// Lets a version order memories, or with `None` the formula alone. Returns false if there is no such version that may
/// be used; then nothing is in use, and the caller takes that back.
pub async fn switch(tx: &mut WriteTx<'_>, tenant_id: TenantId, version: Option<u64>) -> Result<bool> {
    run!(tx.conn(), execute, STOP, tenant_id.0)?;
    let Some(version) = version else { return Ok(true) };
    Ok(run!(tx.conn(), execute, START, tenant_id.0, version.cast_signed())? == 1)
}

/// Slugs after this one of workspaces that have considered memories and no version since this time, in order.
pub async fn due(conn: &mut Conn<'_>, after: &str, since: Timestamp, limit: u32) -> Result<Vec<String>> {
    let rows = run!(conn, fetch_all(String,), DUE, after, to_micros(since), i64::from(limit))?;
    Ok(rows.into_iter().map(|(slug,)| slug).collect())
}

/// Deletes versions up to a number, but not the one in use.
pub async fn prune(tx: &mut WriteTx<'_>, tenant_id: TenantId, upto: u64) -> Result<()> {
    run!(tx.conn(), execute, PRUNE, tenant_id.0, upto.cast_signed())?;
    Ok(())
}
