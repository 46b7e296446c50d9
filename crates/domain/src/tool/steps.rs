//! The steps of a composite tool, as its definition describes them.

use crate::names::names;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// What a composite tool does: it runs other tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Composite {
    /// The steps. A step can use what steps before it returned.
    pub steps: Vec<Step>,
    /// The result: JSON in which a string that is exactly `{/input/…}` or `{/steps/NAME/…}` is replaced by the value at
    /// that place. `None` for the result of the last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
}

/// A run of another tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// Name of the step, a slug that no other step of the tool has.
    pub name: String,
    /// Slug of the tool that it runs.
    pub tool: String,
    /// Version of that tool. A published composite tool names one for each step; in the working copy, `None` is the
    /// version that is published when the composite tool is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Input of the run: JSON with placeholders as in [`Composite::result`]. `None` takes the defaults of the tool's
    /// schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Names of steps before it that have to end first, besides those that its input uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// What happens if it fails.
    #[serde(default, skip_serializing_if = "OnFailure::is_stop")]
    pub on_failure: OnFailure,
    /// How often it is tried again before it counts as failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries: u32,
    /// Pause before it is tried again, seconds. Each further pause is twice as long.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub backoff_seconds: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What a failed step does to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The run fails, and its open steps are cancelled.
    #[default]
    Stop,
    /// The run goes on. The step has no result.
    Continue,
}

names!(OnFailure { Stop = "stop", Continue = "continue" });

impl OnFailure {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    const fn is_stop(&self) -> bool {
        matches!(self, Self::Stop)
    }
}
