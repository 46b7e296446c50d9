//! Which gates a rule is about.

use crate::gate::{Gate, GateKind, Task, canonical_digest};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What alike gates have in common: agent, kind, tool and the names of the values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Subject {
    /// Slug of the agent.
    pub agent: String,
    /// What is paused: a tool call or an output.
    pub kind: GateKind,
    /// Name of the tool, as the agent names it; only and always for a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Names of all values, sorted.
    pub fields: Vec<String>,
}

impl Subject {
    /// Returns the subject of a gate. `None` for what no rule decides: questions, changes of a memory, work that names
    /// no agent, and gates whose content is erased.
    pub fn of(gate: &Gate) -> Option<Self> {
        let tool = match &gate.task {
            Task::Tool(call) => Some(call.tool_name.clone()),
            Task::Output(_) | Task::Fields(_) => None,
            Task::Question(_) | Task::Memory(_) => return None,
        };
        if gate.similar_key.is_empty() {
            return None;
        }
        let fields = gate.task.editable()?.keys().cloned().collect();
        Some(Self { agent: gate.agent_slug.clone()?, kind: gate.kind, tool, fields }.sorted())
    }

    /// The same with the names in their order.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.fields.sort_unstable();
        self.fields.dedup();
        self
    }

    /// A text that equal subjects have in common, and no others: 64 hexadecimal digits.
    pub fn key(&self) -> String {
        canonical_digest(&json!([self.agent, self.kind, self.tool, self.fields])).to_string()
    }
}
