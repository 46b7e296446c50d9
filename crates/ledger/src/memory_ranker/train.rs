//! Training: reading the samples of a workspace, and storing what was learned.

use super::samples::Samples;
use crate::{
    Error, Ledger, Result,
    relevance::{Place, rows_by_operator},
};
use domain::limit::MEMORY_RANKERS_MAX;
use ranker::{Learned, Refusal, Sample};
use store::{Access, memory_ranker::RankerRecord};

/// Rows that are read at once.
const ROWS: u32 = 1_000;

/// Returns the samples of the workspace with this slug. `read` is called with the number of rows read so far.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace; [`Error::NoInstanceKey`] without a key.
pub async fn samples_by_operator(ledger: &Ledger, workspace: &str, mut read: impl FnMut(u64)) -> Result<Vec<Sample>> {
    let (mut samples, mut place, mut rows_read) = (Samples::default(), Place::default(), 0);
    loop {
        let (rows, last) = rows_by_operator(ledger, workspace, place, ROWS).await?;
        rows_read += rows.len() as u64;
        read(rows_read);
        rows.into_iter().for_each(|row| samples.push(row));
        match last {
            Some(last) => place = last,
            None => return Ok(samples.finish()),
        }
    }
}

/// Stores what was learned as a new version, and uses it if it is better than the formula. `None` if there is no model.
/// The oldest versions beyond [`MEMORY_RANKERS_MAX`] are deleted, but not the one in use.
///
/// # Errors
/// [`Error::NotFound`] if there is no workspace with this slug.
pub async fn store_by_operator(
    ledger: &Ledger,
    workspace: &str,
    seed: u32,
    learned: &Learned,
) -> Result<Option<RankerRecord>> {
    let Some((model, report)) = &learned.fitted else { return Ok(None) };
    let model = model.to_bytes();
    let refusal = learned.refusal.map(Refusal::as_str);
    let record = RankerRecord {
        version: 0,
        seed: seed.into(),
        samples: report.samples,
        sessions: report.sessions,
        sessions_measured: report.sessions_measured,
        prompts_measured: report.prompts_measured,
        alpha: report.alpha,
        formula_ndcg5: report.formula.ndcg5,
        model_ndcg5: report.model.ndcg5,
        formula_recall8: report.formula.recall8,
        model_recall8: report.model.recall8,
        formula_calibration: report.formula.calibration,
        model_calibration: report.model.calibration,
        gain: report.gain.mean,
        gain_low: report.gain.low,
        gain_high: report.gain.high,
        refusal: refusal.map(str::to_owned),
        in_use: refusal.is_none(),
        created_at: ledger.now(),
    };
    let workspace = workspace.to_owned();
    let written = ledger.write(Access::System, async move |tx| {
        let tenant = store::tenant::find_by_slug(tx.conn(), &workspace).await?;
        let tenant_id = tenant.ok_or(Error::NotFound("workspace"))?.id;
        let version = store::memory_ranker::newest(tx.conn(), tenant_id).await? + 1;
        let record = RankerRecord { version, ..record };
        store::memory_ranker::insert(tx, tenant_id, &record, &model).await?;
        if record.in_use {
            store::memory_ranker::switch(tx, tenant_id, Some(version)).await?;
        }
        store::memory_ranker::prune(tx, tenant_id, version.saturating_sub(MEMORY_RANKERS_MAX.into())).await?;
        Ok((tenant_id, record))
    });
    let (tenant_id, record) = written.await?;
    ledger.rankers().forget(tenant_id);
    Ok(Some(record))
}
