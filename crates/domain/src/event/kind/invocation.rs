//! What the events of a tool's call have in common: `tool.invocation_started`, `…_completed` and `…_failed`.

use super::{
    payload::{Members, Payload, json_text, text_content, text_of},
    tool_part::calls,
};
use serde::Serialize;
use serde_json::Value;

/// The call of a tool. Workers report calls of their own tools; for the tools of a workspace the product writes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Invocation {
    /// What the writer says about it.
    #[serde(skip)]
    pub text: Option<String>,
    /// The events of one call have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// As the worker names it; the slug of a tool of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Arguments of the call. The input of a tool of the workspace is in its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Version of a tool of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Number of the call in its session; the first is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<u64>,
    /// HTTP status code of the answer; `None` for a call without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u64>,
    /// How long the call took, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Stable name of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl Payload for Invocation {
    fn read(content: &str, metadata: &str) -> Option<Self> {
        let members = Members::read(metadata);
        // Some workers write the call as a part of the content, as in `agent.tool_call`.
        let part = calls(content).into_iter().next();
        let (id, name, input) = part.map_or((None, None, None), |part| (part.id, part.name, Some(part.input)));
        Some(Self {
            text: text_of(content),
            tool_call_id: members.text(&["toolCallId", "invocationId", "tool_call_id"]).or(id),
            tool_name: members.text(&["toolName", "tool", "tool_name"]).or(name),
            input: members.value("input").cloned().or(input),
            version: members.number("version"),
            call: members.number("call"),
            status: members.number("status"),
            duration_ms: members.number("durationMs"),
            code: members.text(&["code"]),
        })
    }

    fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    fn metadata(&self) -> String {
        json_text(self)
    }
}
