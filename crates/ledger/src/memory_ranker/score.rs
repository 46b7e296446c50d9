//! Scores of the candidates of a prompt.

use super::{in_use::Rankers, samples::facts};
use crate::{Result, Timestamp, relevance::USES_DAYS};
use chrono::TimeDelta;
use domain::{
    id::TenantId,
    memory_writer::select::{Candidate, Measured, RANKER, formula},
    relevance::Kind,
};
use ranker::{features, mixed};
use store::Conn;

/// Returns the candidates with their scores, from 0 to 1, and the name of what gave them: the formula alone, or the
/// formula and the model in use.
pub(crate) async fn scores(
    conn: &mut Conn<'_>,
    rankers: &Rankers,
    tenant_id: TenantId,
    candidates: Vec<Candidate>,
    now: Timestamp,
) -> Result<(Vec<(Candidate, f64)>, String)> {
    let own = formula(&candidates.iter().map(Measured::from).collect::<Vec<_>>());
    let used = if candidates.is_empty() { None } else { rankers.in_use(conn, tenant_id, now).await? };
    let Some(used) = used else {
        return Ok((candidates.into_iter().zip(own).collect(), RANKER.to_owned()));
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
