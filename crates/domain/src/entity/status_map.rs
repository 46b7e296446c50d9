//! How work stands, field by field: the dots on an entity's page.

use crate::{
    block_status::{self, BlockStatus},
    id::SessionId,
    session::Status,
};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// Status dots of an entity's page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskStatusMap {
    /// By field slug; `title` stands for the title.
    pub by_field_name: BTreeMap<String, BlockStatus>,
    /// By the name of a block of the page.
    pub by_block_id: BTreeMap<String, BlockStatus>,
}

/// No dots: for pages that have read no sessions.
pub const EMPTY_TASK_STATUS_MAP: TaskStatusMap =
    TaskStatusMap { by_field_name: BTreeMap::new(), by_block_id: BTreeMap::new() };

/// What an action's sessions write, as its `outputConfig` says: `{"fields": ["stage"], "blocks": ["summary"]}`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputTargets {
    /// Field slugs.
    pub fields: Vec<String>,
    /// Names of blocks.
    pub blocks: Vec<String>,
}

/// One session of an entity, as far as its dots go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStanding {
    /// The session.
    pub id: SessionId,
    /// Where it stands.
    pub status: Status,
    /// What it writes.
    pub targets: OutputTargets,
}

/// The targets an `outputConfig` names. One that names none, or in another shape, has none.
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

/// The dots that `sessions` (newest first) give: for each field and block, its newest session decides.
///
/// A session in `field_names_by_session_id` writes the fields named there instead of those of its action.
pub fn build_task_status_map(
    sessions: &[SessionStanding],
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

    fn session(id: u128, status: Status, config: &str) -> SessionStanding {
        SessionStanding { id: SessionId(Uuid::from_u128(id)), status, targets: output_targets(config) }
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
