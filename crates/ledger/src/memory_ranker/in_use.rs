//! The model that orders the memories of a workspace, cached, and its scores of the candidates of a prompt.

use super::samples::facts;
use crate::{Result, Timestamp, relevance::USES_DAYS};
use chrono::TimeDelta;
use domain::{
    id::TenantId,
    limit::{MEMORY_RANKER_BYTES_MAX, MEMORY_RANKERS_CACHED_MAX},
    memory_writer::select::{Candidate, Measured, RANKER, RANKER_WITH_VECTORS, formula as scores_of},
    relevance::Kind,
};
use quick_cache::sync::Cache;
use ranker::{Model, features, mixed};
use std::{fmt, sync::Arc};
use store::Conn;

/// Seconds for which a server uses the model that it has read. Another process can change the choice meanwhile.
const CACHED_SECONDS: i64 = 60;

const _: () = assert!(ranker::MODEL_BYTES_MAX <= MEMORY_RANKER_BYTES_MAX);

/// A model with its share in the scores.
#[derive(Debug)]
pub(super) struct InUse {
    pub(super) version: u64,
    /// Share of the formula, from 0 to 1.
    pub(super) alpha: f64,
    pub(super) model: Model,
}

/// The model in use when it was looked for; `None` if the formula ranks alone.
type Looked = (Timestamp, Option<Arc<InUse>>);

/// The models in use by workspace, and when they were read. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Rankers(Arc<Cache<TenantId, Looked>>);

impl fmt::Debug for Rankers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rankers").field(&self.0.len()).finish()
    }
}

impl Rankers {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Cache::new(MEMORY_RANKERS_CACHED_MAX)))
    }

    /// The model in use; `None` if the formula alone orders memories. So it does if the stored model cannot be read.
    pub(super) async fn in_use(
        &self,
        conn: &mut Conn<'_>,
        tenant_id: TenantId,
        now: Timestamp,
    ) -> Result<Option<Arc<InUse>>> {
        if let Some((read_at, used)) = self.0.get(&tenant_id)
            && (now - read_at).num_seconds().abs() < CACHED_SECONDS
        {
            return Ok(used);
        }
        let stored = store::memory_ranker::in_use(conn, tenant_id).await?;
        let used = stored.and_then(|stored| match Model::from_bytes(&stored.model) {
            Ok(model) => Some(Arc::new(InUse { version: stored.version, alpha: stored.alpha, model })),
            Err(error) => {
                tracing::warn!(%error, version = stored.version, "a ranker of memories cannot be read");
                None
            }
        });
        self.0.insert(tenant_id, (now, used.clone()));
        Ok(used)
    }

    /// Reads the model of a workspace anew when it is needed next.
    pub(super) fn forget(&self, tenant_id: TenantId) {
        self.0.remove(&tenant_id);
    }
}

/// Returns the candidates with their scores, from 0 to 1, and the name of what gave them: the formula alone, or the
/// formula and the model in use.
pub(crate) async fn scores(
    conn: &mut Conn<'_>,
    rankers: &Rankers,
    tenant_id: TenantId,
    candidates: Vec<Candidate>,
    now: Timestamp,
) -> Result<(Vec<(Candidate, f64)>, String)> {
    let own = scores_of(&candidates.iter().map(Measured::from).collect::<Vec<_>>());
    let used = if candidates.is_empty() { None } else { rankers.in_use(conn, tenant_id, now).await? };
    let is_by_meaning = candidates.iter().any(|candidate| candidate.similarity.is_some());
    let formula = if is_by_meaning { RANKER_WITH_VECTORS } else { RANKER };
    let Some(used) = used else {
        return Ok((candidates.into_iter().zip(own).collect(), formula.to_owned()));
    };
    let ids: Vec<String> = candidates.iter().map(|candidate| candidate.id.clone()).collect();
    let since = now - TimeDelta::days(USES_DAYS);
    let uses = store::relevance::recent_uses(conn, tenant_id, since, &ids).await?;
    let most = candidates.iter().map(|candidate| candidate.bm25).fold(0.0, f64::max);
    let predicted = candidates.iter().map(|candidate| {
        let uses = uses.get(&candidate.id).copied().unwrap_or_default();
        let uses = u32::try_from(uses).unwrap_or(u32::MAX);
        let facts = facts(candidate.into(), (uses, candidate.tokens), Kind::of(&candidate.kind));
        used.model.score(&features(&facts, most, 0))
    });
    let scores = mixed(used.alpha, &own, &predicted.collect::<Vec<_>>());
    Ok((candidates.into_iter().zip(scores).collect(), format!("model-{}", used.version)))
}
