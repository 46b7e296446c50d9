//! Rows from which a ranker learns, for exports.

use crate::{Error, InstanceKey, Ledger, Result};
use domain::{
    chain::Digest,
    id::{SessionId, TenantId},
    relevance::{Kind, Row, Signals, Weights, label, weight},
};
use store::{
    Access,
    relevance::{MemoryPlace, SessionMemoryRecord},
};
use uuid::Uuid;

/// Purposes of the keys from which ids of rows are derived.
const SESSION: &str = "relevance session";
const GROUP: &str = "relevance group";
const ROW: &str = "relevance row";

/// The place of a row in the order of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    session_id: SessionId,
    turn: u64,
    memory_id: String,
}

impl Default for Place {
    fn default() -> Self {
        Self { session_id: SessionId(Uuid::nil()), turn: 0, memory_id: String::new() }
    }
}

/// Returns the weights of the terms of labels.
pub fn weights(ledger: &Ledger) -> Weights {
    ledger.relevance().weights
}

/// Returns at most `limit` rows of the workspace with this slug after a place, and the place of the last one; `None`
/// instead of a place after the last row. The order is that of the sessions' ids, the prompts and the memories, so
/// equal data gives equal rows. Private and incognito sessions are left out.
///
/// # Errors
/// [`Error::NotFound`] if there is no such workspace; [`Error::NoInstanceKey`] without a key.
pub async fn rows_by_operator(
    ledger: &Ledger,
    workspace: &str,
    after: Place,
    limit: u32,
) -> Result<(Vec<Row>, Option<Place>)> {
    let key = ledger.instance_key()?;
    let weights = ledger.relevance().weights;
    let workspace = workspace.to_owned();
    let read = ledger.store().read(Access::System, async move |conn| {
        let Some(tenant) = store::tenant::find_by_slug(conn, &workspace).await? else { return Ok(None) };
        let place = MemoryPlace { session_id: after.session_id, turn: after.turn, memory_id: &after.memory_id };
        Ok(Some((tenant.id, store::relevance::after(conn, tenant.id, place, limit).await?)))
    });
    let (tenant_id, records) = read.await?.ok_or(Error::NotFound("workspace"))?;
    let last = records.last().map(|last| Place {
        session_id: last.session_id,
        turn: last.turn,
        memory_id: last.memory_id.clone(),
    });
    Ok((records.into_iter().map(|record| row(key, tenant_id, record, weights)).collect(), last))
}

fn row(key: &InstanceKey, tenant_id: TenantId, record: SessionMemoryRecord, weights: Weights) -> Row {
    let session: &[u8] = record.session_id.0.as_bytes();
    let turn = record.turn.to_be_bytes();
    let id = |purpose: &str, of: &[&[u8]]| Uuid::from_slice(&key.derive(purpose, of)[..16]).unwrap_or_default();
    let signals =
        Signals { agent_mean: record.agent_relevance_score, use_hits: record.use_hits, continuity: record.continuity };
    Row {
        id: id(ROW, &[session, &turn, record.memory_id.as_bytes()]),
        tenant: tenant_id,
        session_hmac: Digest(key.derive(SESSION, &[session])).to_string(),
        turn: record.turn,
        memory_version: record.memory_version,
        query_group: id(GROUP, &[session, &turn]),
        bm25: record.bm25,
        recency_d: record.recency_d,
        importance: record.importance,
        uses_30d: record.uses_30d,
        same_person: record.same_person,
        same_channel: record.same_channel,
        kind: Kind::of(&record.kind),
        tokens: record.tokens,
        rank: record.rank,
        slot: record.slot,
        injected: record.injected,
        propensity: record.propensity,
        holdout: record.holdout,
        similarity: record.similarity,
        agent_mean: record.agent_relevance_score,
        agent_n: record.agent_feedback_count,
        use_hits: record.use_hits,
        continuity: record.continuity,
        label: label(signals, weights),
        weight: weight(record.agent_feedback_count, record.propensity),
        ranker_version: record.ranker,
    }
}
