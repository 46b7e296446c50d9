//! What a rule decides, and how much of it: everything that a version fixes.

use super::Subject;
use crate::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

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
