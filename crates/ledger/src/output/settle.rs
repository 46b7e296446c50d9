//! Whether a result that keeps its contract counts at once.

use crate::{ActionRecord, SessionRecord, commit::is_thread};
use domain::{action::OutputType, gate::needs_approval};
use serde_json::{Map, Value};

/// Whether a person has to decide first: the action says so. A conversation's text is said already, turn by turn.
pub(crate) fn awaits_approval(action: &ActionRecord, session: &SessionRecord) -> bool {
    let metadata: Map<String, Value> = serde_json::from_str(&action.metadata).unwrap_or_default();
    needs_approval(&metadata) && !(action.output_type == OutputType::Text && is_thread(session))
}
