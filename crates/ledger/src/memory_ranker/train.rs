//! Training: which workspaces are due, reading their samples, and storing what was learned.

use super::samples::Samples;
use crate::{
    Error, Ledger, Result,
    audit::Act,
    lease::Lease,
    relevance::{Place, rows_by_operator},
};
use chrono::TimeDelta;
use domain::{Caller, audit::Kind, id::TenantId, limit::MEMORY_RANKERS_MAX};
use ranker::{Learned, Refusal, Sample};
use serde_json::json;
use store::{Access, Conn, memory_ranker::RankerRecord};

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

/// Stores what was learned as a new version, and uses it if it is better than the formula. The audit list then has an
/// entry. `None` if there is no model.
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
    store_as(ledger, workspace, (seed, learned), false).await
}

/// Like [`store_by_operator`], but an operator's choice stays: if the newest version that is better than the formula is
/// not in use, the new one is not used either.
///
/// # Errors
/// [`Error::NotFound`] if there is no workspace with this slug.
pub async fn store_by_server(
    ledger: &Ledger,
    workspace: &str,
    seed: u32,
    learned: &Learned,
) -> Result<Option<RankerRecord>> {
    store_as(ledger, workspace, (seed, learned), true).await
}

async fn store_as(
    ledger: &Ledger,
    workspace: &str,
    (seed, learned): (u32, &Learned),
    keeps_choice: bool,
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
    let act = Act::new(Kind::RankerSwitched, Caller::System, ledger.now());
    let written = ledger.write(Access::System, async move |tx| {
        let tenant = store::tenant::find_by_slug(tx.conn(), &workspace).await?;
        let tenant_id = tenant.ok_or(Error::NotFound("workspace"))?.id;
        let version = store::memory_ranker::newest(tx.conn(), tenant_id).await? + 1;
        let in_use = record.in_use && !(keeps_choice && is_chosen(tx.conn(), tenant_id).await?);
        let record = RankerRecord { version, in_use, ..record };
        store::memory_ranker::insert(tx, tenant_id, &record, &model).await?;
        let before = store::memory_ranker::in_use(tx.conn(), tenant_id).await?.map(|used| used.version);
        if record.in_use {
            store::memory_ranker::switch(tx, tenant_id, Some(version)).await?;
        }
        store::memory_ranker::prune(tx, tenant_id, version.saturating_sub(MEMORY_RANKERS_MAX.into())).await?;
        if record.in_use {
            act.with(json!({ "from": before, "to": version })).record(tx, tenant_id).await?;
        }
        Ok((tenant_id, record))
    });
    let (tenant_id, record) = written.await?;
    ledger.rankers().forget(tenant_id);
    Ok(Some(record))
}

/// Whether an operator chose what orders memories: something older than the newest version that is better than the
/// formula.
async fn is_chosen(conn: &mut Conn<'_>, tenant_id: TenantId) -> Result<bool> {
    let versions = store::memory_ranker::list(conn, tenant_id, MEMORY_RANKERS_MAX + 1).await?;
    Ok(versions.iter().find(|version| version.refusal.is_none()).is_some_and(|newest| !newest.in_use))
}

/// Most workspaces that are returned at once.
const BATCH: u32 = 100;
/// Age of the newest model from which on a workspace is due.
const AGE: TimeDelta = TimeDelta::hours(24);
/// The training. Other servers do not train until the lease is over.
const LEASE: Lease = Lease { name: "memory-rankers", time: TimeDelta::minutes(90) };

/// Returns the slugs, after this one, of workspaces that have considered memories and no model of the last 24 hours.
/// Empty at the end.
pub async fn due(ledger: &Ledger, after: &str) -> Result<Vec<String>> {
    let (after, since) = (after.to_owned(), ledger.now() - AGE);
    let read = ledger
        .store()
        .read(Access::System, async move |conn| store::memory_ranker::due(conn, &after, since, BATCH).await);
    Ok(read.await?)
}

/// Takes the lease on the training. Returns false while another server holds it.
pub async fn lease(ledger: &Ledger) -> Result<bool> {
    LEASE.take(ledger).await
}
