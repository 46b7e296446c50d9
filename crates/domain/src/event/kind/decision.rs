//! What the events of decisions at gates have in common: `user.output_approval`, `user.tool_confirmation` and the
//! answers among `user.form_submit`.

use super::payload::{Payload, json_text, read_fields, text_content, text_of};
use crate::{
    Timestamp,
    feedback_request::Outcome,
    gate::{GateKind, Verdict},
    id::{GateId, RuleId, UserId},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A decision, or the withdrawal of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// What the reviewer wrote.
    #[serde(skip)]
    pub note: Option<String>,
    /// Where it was decided.
    pub gate_id: GateId,
    /// How a question ended, where the verdict does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// What the gate asks to decide on.
    pub kind: GateKind,
    /// Number of the decision among those of the gate; the first is 1.
    pub number: u32,
    /// Digest of the values that were decided on, hexadecimal.
    pub digest: String,
    /// What was decided; `None` if an earlier decision was withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Verdict>,
    /// Number of the decision that was withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u32>,
    /// Only for a gate of a tool call: the id that the agent gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Only for a gate of a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The changed values, or the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The rule that decided, if no person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<ByRule>,
    /// Until when its author can withdraw it (UTC), if that is possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_at: Option<Timestamp>,
}

/// The version of a rule that decided, and who is responsible for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ByRule {
    /// The rule.
    pub id: RuleId,
    /// Number of its version.
    pub version: u64,
    /// The admin who made the version.
    pub made_by: UserId,
}

impl Payload for Decision {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        Some(Self { note: text_of(content), ..read_fields(metadata)? })
    }

    fn content(&self) -> String {
        text_content(self.note.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(self)
    }
}
