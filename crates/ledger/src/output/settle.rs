//! What becomes of a result that keeps its contract.

use super::{WriteBack, Written, write_back};
use crate::{ActionRecord, Result, SessionRecord};
use domain::{action::OutputType, gate::needs_approval};
use serde_json::{Map, Value, json};
use store::WriteTx;

/// What became of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Its entities are written, where it has any.
    Written(Written),
    /// A person has to decide first: nothing is written.
    AwaitsApproval,
}

impl Settled {
    /// For the metadata of `session.completed`.
    pub(crate) fn metadata(&self) -> Value {
        match self {
            Self::Written(written) => json!(written),
            Self::AwaitsApproval => json!("requires_approval"),
        }
    }
}

/// Writes a result that keeps its contract, unless its action wants a person's approval of what it would write.
pub(crate) async fn settle(tx: &mut WriteTx<'_>, write: WriteBack<'_>) -> Result<Settled> {
    let metadata: Map<String, Value> = serde_json::from_str(&write.action.metadata).unwrap_or_default();
    if needs_approval(&metadata) && writes_entities(write.action, write.session) {
        return Ok(Settled::AwaitsApproval);
    }
    Ok(Settled::Written(write_back(tx, write).await?))
}

/// Whether results of this session change records.
fn writes_entities(action: &ActionRecord, session: &SessionRecord) -> bool {
    match action.output_type {
        OutputType::Text => false,
        OutputType::Fields => session.entity_id.is_some(),
        OutputType::Entity | OutputType::Entities | OutputType::RelationEntity => true,
    }
}
