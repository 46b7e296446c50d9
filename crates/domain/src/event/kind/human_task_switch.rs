//! `human.task_switch`: a person went on to another task within the session.

use super::payload::{Members, Payload, about, with_time};
use crate::Timestamp;
use serde_json::json;

/// A person went on to another task within the session. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSwitch {
    /// When, according to the browser (UTC).
    pub at: Option<Timestamp>,
    /// Title of the task, if the event names it.
    pub title: Option<String>,
}

impl Payload for TaskSwitch {
    fn read(_content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        Some(Self { at: members.time("at"), title: members.text(&["title"]) })
    }

    fn metadata(&self) -> String {
        let metadata = self.title.as_ref().map_or_else(|| json!({}), |title| json!({ "title": title }));
        with_time(metadata, self.at)
    }

    fn sentence(&self) -> Option<String> {
        Some(about("Switched to", self.title.as_deref()))
    }
}
