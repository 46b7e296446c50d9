//! Decides whether a valid result needs approval.

use crate::{ActionRecord, commit::is_thread};
use domain::{action::OutputType, gate::needs_approval, session::Session};
use serde_json::{Map, Value};

/// Returns whether a person must approve the result, which the action's metadata says. Text of a conversation is
/// never staged, because the person has already read it turn by turn.
pub(crate) fn awaits_approval(action: &ActionRecord, session: &Session) -> bool {
    let metadata: Map<String, Value> = serde_json::from_str(&action.metadata).unwrap_or_default();
    needs_approval(&metadata) && !(action.output_type == OutputType::Text && is_thread(session))
}
