//! Whether a result that keeps its contract may be written at once.

use crate::{ActionRecord, SessionRecord};
use domain::{action::OutputType, gate::needs_approval};
use serde_json::{Map, Value};

/// Whether a person has to decide first: the action says so, and results of this session change records.
pub(crate) fn awaits_approval(action: &ActionRecord, session: &SessionRecord) -> bool {
    let metadata: Map<String, Value> = serde_json::from_str(&action.metadata).unwrap_or_default();
    needs_approval(&metadata)
        && match action.output_type {
            OutputType::Text => false,
            OutputType::Fields => session.entity_id.is_some(),
            OutputType::Entity | OutputType::Entities | OutputType::RelationEntity => true,
        }
}
