//! Time limits of a session's statuses.

use super::Status;
use crate::{
    issue::Issue,
    limit::{TIME_LIMIT_SECONDS_MAX, TIME_LIMIT_SECONDS_MIN},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Time limits of one session, in seconds. `None` means no limit. A session copies the limits of its action at
/// creation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeLimits {
    /// Longest time as pending. It starts anew each time the session becomes pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_seconds: Option<u32>,
    /// Longest time as running. It starts anew with each claim; heartbeats do not extend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running_seconds: Option<u32>,
    /// Longest time as waiting for a person, awaiting a tool, or idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_seconds: Option<u32>,
}

/// Key of the limits in an action's metadata.
const KEY: &str = "timeLimits";

impl TimeLimits {
    /// Reads the limits from an action's metadata. Without `timeLimits` there are none.
    ///
    /// # Errors
    /// One [`Issue`] for each invalid key, with the path `metadata.timeLimits.key`.
    pub fn of_metadata(metadata: &Map<String, Value>) -> Result<Self, Vec<Issue>> {
        let mut limits = Self::default();
        let Some(given) = metadata.get(KEY) else { return Ok(limits) };
        let at = |key: &str| format!("metadata.{KEY}{key}");
        let Value::Object(given) = given else {
            let message = "an object with pendingSeconds, runningSeconds and waitingSeconds".into();
            return Err(vec![Issue { field: at(""), message }]);
        };
        let mut issues = Vec::new();
        for (key, value) in given {
            let limit = match key.as_str() {
                "pendingSeconds" => &mut limits.pending_seconds,
                "runningSeconds" => &mut limits.running_seconds,
                "waitingSeconds" => &mut limits.waiting_seconds,
                _ => {
                    let message = "pendingSeconds, runningSeconds and waitingSeconds are what can be limited".into();
                    issues.push(Issue { field: at(&format!(".{key}")), message });
                    continue;
                }
            };
            let seconds = value.as_u64().and_then(|seconds| u32::try_from(seconds).ok());
            *limit = seconds.filter(|s| (TIME_LIMIT_SECONDS_MIN..=TIME_LIMIT_SECONDS_MAX).contains(s));
            if limit.is_none() {
                let message = format!("a whole number, {TIME_LIMIT_SECONDS_MIN} to {TIME_LIMIT_SECONDS_MAX}");
                issues.push(Issue { field: at(&format!(".{key}")), message });
            }
        }
        if issues.is_empty() { Ok(limits) } else { Err(issues) }
    }

    /// Longest time in this status, seconds; `None` without a limit.
    pub const fn of(&self, status: Status) -> Option<u32> {
        match status {
            Status::Pending => self.pending_seconds,
            Status::Running => self.running_seconds,
            Status::WaitingHuman | Status::AwaitingTool | Status::Idle => self.waiting_seconds,
            Status::Draft | Status::Completed | Status::Failed | Status::Abandoned | Status::Expired => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(metadata: Value) -> Result<TimeLimits, Vec<String>> {
        let fields = |issues: Vec<Issue>| issues.into_iter().map(|issue| issue.field).collect();
        TimeLimits::of_metadata(metadata.as_object().unwrap()).map_err(fields)
    }

    #[test]
    fn each_kind_of_waiting_has_its_own_limit_and_none_by_default() {
        assert_eq!(read(json!({ "requiresApproval": true })), Ok(TimeLimits::default()));
        let limits = read(
            json!({ "timeLimits": { "pendingSeconds": 1, "runningSeconds": 2, "waitingSeconds": TIME_LIMIT_SECONDS_MAX } }),
        );
        let limits = limits.unwrap();
        for status in Status::ALL {
            let expected = match status {
                Status::Pending => Some(1),
                Status::Running => Some(2),
                Status::WaitingHuman | Status::AwaitingTool | Status::Idle => Some(TIME_LIMIT_SECONDS_MAX),
                _ => None,
            };
            assert_eq!(limits.of(status), expected, "{status}");
        }
    }

    #[test]
    fn each_wrong_limit_is_named() {
        for (given, named) in [
            (json!(60), "metadata.timeLimits"),
            (json!({ "pendingSeconds": 0 }), "metadata.timeLimits.pendingSeconds"),
            (json!({ "runningSeconds": TIME_LIMIT_SECONDS_MAX + 1 }), "metadata.timeLimits.runningSeconds"),
            (json!({ "waitingSeconds": 1.5 }), "metadata.timeLimits.waitingSeconds"),
            (json!({ "waitingSeconds": null }), "metadata.timeLimits.waitingSeconds"),
            (json!({ "draftSeconds": 5 }), "metadata.timeLimits.draftSeconds"),
        ] {
            assert_eq!(read(json!({ "timeLimits": given })), Err(vec![named.to_owned()]));
        }
    }
}
