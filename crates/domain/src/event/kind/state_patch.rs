//! `state.patch`: shared state was changed by JSON Patch operations.

use super::payload::{Payload, about, json_text, text_content, text_of};
use crate::canvas::{Operation, Overwritten};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Type of the content part that holds the change of a canvas.
const PART: &str = "data-canvas-patch";

/// A change of shared state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatePatch {
    /// The comment of a worker on a change of its own state, which is recorded as it was sent and not interpreted.
    pub text: Option<String>,
    /// The change of a canvas. Only the server writes it.
    pub patch: Option<CanvasPatch>,
}

/// A patch of a canvas that was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CanvasPatch {
    /// Id that its author gave it.
    pub op_id: String,
    /// Version that its author had seen.
    pub base: u64,
    /// Version on which it was applied: the sequence of the patch before it, or 0.
    pub previous: u64,
    /// The operations that were applied.
    pub ops: Vec<Operation>,
    /// Changes of others that it replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overwrote: Vec<Overwritten>,
    /// Author of the change, if someone else accepted it: the actor of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_by: Option<String>,
}

#[derive(Serialize)]
struct Part<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    data: &'a CanvasPatch,
}

impl Payload for StatePatch {
    fn read(content: &str, _metadata: &str) -> Option<Self> {
        Some(Self { text: text_of(content), patch: patch_of(content) })
    }

    fn content(&self) -> String {
        match &self.patch {
            Some(patch) => json_text(&[Part { kind: PART, data: patch }]),
            None => text_content(self.text.as_deref()),
        }
    }

    fn sentence(&self) -> Option<String> {
        match &self.patch {
            Some(patch) => Some(canvas_sentence(patch)),
            None => Some(about("State changed", self.text.as_deref())),
        }
    }
}

fn patch_of(content: &str) -> Option<CanvasPatch> {
    if !content.contains(PART) {
        return None;
    }
    let parts: Vec<Value> = serde_json::from_str(content).ok()?;
    let mut part = parts.into_iter().find(|part| part["type"] == PART)?;
    serde_json::from_value(part["data"].take()).ok()
}

fn canvas_sentence(patch: &CanvasPatch) -> String {
    match patch.ops.iter().filter(|operation| operation.writes()).count() {
        1 => "Canvas changed in one place".to_owned(),
        changes => format!("Canvas changed in {changes} places"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patch_of_a_canvas_is_read_and_written_without_a_difference() {
        let data = json!({"opId": "a:1", "base": 3, "previous": 3, "ops": [
            {"op": "replace", "path": "/a", "value": 1}, {"op": "remove", "path": "/b"}
        ]});
        let content = json!([{"type": PART, "data": data}]).to_string();
        let read = StatePatch::read(&content, "{}").unwrap();
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(parsed(&read.content()), parsed(&content));
        assert_eq!(read.sentence().unwrap(), "Canvas changed in 2 places");
    }

    #[test]
    fn other_patches_stay_what_a_worker_sent() {
        for content in [r#"[{"type":"data-canvas-patch","data":{"ops":[{"op":"move"}]}}]"#, "[]"] {
            let read = StatePatch::read(content, "{}").unwrap();
            assert_eq!((read.patch, read.text), (None, None), "{content}");
        }
    }
}
