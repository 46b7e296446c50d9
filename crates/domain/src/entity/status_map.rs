//! The status of work for each field and block of an entity's page, which shows them as dots.

use crate::{
    block_status::{self, BlockStatus},
    id::SessionId,
    session::Status,
};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// The status dots of an entity's page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskStatusMap {
    /// Status by slug of the field, or `title`.
    pub by_field_name: BTreeMap<String, BlockStatus>,
    /// Status by name of the page's block.
    pub by_block_id: BTreeMap<String, BlockStatus>,
}

/// The empty map, for pages that have not read sessions.
pub const EMPTY_TASK_STATUS_MAP: TaskStatusMap =
    TaskStatusMap { by_field_name: BTreeMap::new(), by_block_id: BTreeMap::new() };

/// The fields and blocks that an action's sessions write, from its `outputConfig`: `{"fields": ["stage"],
/// "blocks": ["summary"]}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputTargets {
    /// Slugs of the fields.
    pub fields: Vec<String>,
    /// Names of the blocks.
    pub blocks: Vec<String>,
}

/// The part of a session that decides the dots of its entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTargets {
    /// Id of the session.
    pub id: SessionId,
    /// Status of the session.
    pub status: Status,
    /// Fields and blocks that the session writes.
    pub targets: OutputTargets,
}

/// Reads the targets of an `outputConfig`. A config without targets, or with targets of another shape, has
/// none.
pub fn output_targets(output_config: &str) -> OutputTargets {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        fields: serde_json::Value,
        #[serde(default)]
        blocks: serde_json::Value,
    }
    let names = |value: serde_json::Value| {
        let list = value.as_array().cloned().unwrap_or_default();
        list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    };
    match serde_json::from_str::<Named>(output_config) {
        Ok(named) => OutputTargets { fields: names(named.fields), blocks: names(named.blocks) },
        Err(_) => OutputTargets::default(),
    }
}

/// Builds the dots from `sessions`, which come newest first. For each field and block the newest session
/// decides.
///
/// If `field_names_by_session_id` has an entry for a session, the session writes those fields instead of its
/// action's.
pub fn build_task_status_map(
    sessions: &[SessionTargets],
    field_names_by_session_id: &HashMap<SessionId, Vec<String>>,
) -> TaskStatusMap {
    let mut map = EMPTY_TASK_STATUS_MAP;
    for session in sessions {
        let status = block_status::of(session.status);
        let fields = field_names_by_session_id.get(&session.id).unwrap_or(&session.targets.fields);
        for field in fields {
            map.by_field_name.entry(field.clone()).or_insert(status);
        }
        for block in &session.targets.blocks {
            map.by_block_id.entry(block.clone()).or_insert(status);
        }
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn session(id: u128, status: Status, config: &str) -> SessionTargets {
        SessionTargets { id: SessionId(Uuid::from_u128(id)), status, targets: output_targets(config) }
    }

    #[test]
    fn the_newest_session_of_a_field_decides_its_dot() {
        let config = r#"{"fields":["stage","owner"],"blocks":["summary"]}"#;
        let sessions = [session(2, Status::Running, r#"{"fields":["stage"]}"#), session(1, Status::Failed, config)];
        let map = build_task_status_map(&sessions, &HashMap::new());
        assert_eq!(map.by_field_name["stage"], BlockStatus::InProgress);
        assert_eq!(map.by_field_name["owner"], BlockStatus::Failed);
        assert_eq!(map.by_block_id["summary"], BlockStatus::Failed);
    }

    #[test]
    fn ten_session_statuses_become_five() {
        let expected = |status| match status {
            Status::Draft | Status::Pending => BlockStatus::Pending,
            Status::Running | Status::AwaitingTool | Status::Idle => BlockStatus::InProgress,
            Status::WaitingHuman => BlockStatus::WaitingHuman,
            Status::Completed => BlockStatus::Complete,
            Status::Failed | Status::Expired | Status::Abandoned => BlockStatus::Failed,
        };
        for status in Status::ALL {
            let map = build_task_status_map(&[session(1, status, r#"{"fields":["f"]}"#)], &HashMap::new());
            assert_eq!(map.by_field_name["f"], expected(status), "{status}");
        }
    }

    #[test]
    fn names_given_for_a_session_replace_those_of_its_action() {
        let sessions = [session(1, Status::Completed, r#"{"fields":["a"]}"#)];
        let named = HashMap::from([(SessionId(Uuid::from_u128(1)), vec!["b".to_owned()])]);
        let map = build_task_status_map(&sessions, &named);
        assert_eq!(map.by_field_name.keys().collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn an_output_config_of_another_shape_names_nothing() {
        for config in ["{}", "[]", "", r#"{"fields":"stage"}"#, r#"{"fields":[1,null]}"#, r#"{"fields":{"stage":1}}"#] {
            assert_eq!(output_targets(config), OutputTargets::default(), "{config}");
        }
        assert_eq!(build_task_status_map(&[], &HashMap::new()), EMPTY_TASK_STATUS_MAP);
    }
}
