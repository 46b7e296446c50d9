//! What a rule decides, and how much of it: which gates it is about, everything that a version fixes, and whether it
//! decides now.

use crate::{
    Timestamp,
    gate::{Gate, GateKind, Task, canonical_digest},
    names::names,
};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};
use std::fmt;

/// Everything that one version of a rule fixes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Definition {
    /// Which gates the rule is about.
    pub subject: Subject,
    /// What must hold for the values of a gate: all of them. Values without a condition can be anything.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// How much the rule decides.
    pub limits: Limits,
}

/// A condition on one value: it equals one of some values, or it is a number in a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Condition {
    /// Name of the value: a key of the arguments, or of the output.
    pub field: String,
    /// The values that are taken: texts, numbers, true or false. Empty for a range.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<Value>,
    /// Least number that is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Number>,
    /// Largest number that is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Number>,
}

impl Condition {
    /// A condition that takes only these values.
    pub const fn one_of(field: String, one_of: Vec<Value>) -> Self {
        Self { field, one_of, at_least: None, at_most: None }
    }

    /// Whether it is about a range of numbers.
    pub const fn is_range(&self) -> bool {
        self.at_least.is_some() || self.at_most.is_some()
    }
}

/// How much a rule decides. Beyond a limit a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Most decisions of one day (UTC).
    pub per_day: u32,
    /// Largest sum of one value over the decisions of one day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<AmountLimit>,
    /// Time from which the rule decides nothing any more (UTC).
    pub expires_at: Timestamp,
    /// Percentage of gates that still ask a person, chosen by their ids.
    pub canary_percent: u32,
}

/// Largest sum of one value over the decisions of one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AmountLimit {
    /// Name of the value, which is a number.
    pub field: String,
    /// Largest sum of one day (UTC).
    pub per_day: Number,
}

/// Whether a rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It decides what it covers.
    Active,
    /// It decides nothing until an admin resumes it.
    Suspended,
    /// It decides nothing any more. Its decisions still name it.
    Deleted,
}

names!(State { Active = "active", Suspended = "suspended", Deleted = "deleted" });

/// Why a rule is suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspendedWhy {
    /// A person did not approve an item that the rule covers.
    Differed,
    /// A person undid a decision of the rule.
    Undone,
    /// An admin suspended it.
    Admin,
}

names!(SuspendedWhy { Differed = "differed", Undone = "undone", Admin = "admin" });

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
