//! What the events of a tool's call have in common: `tool.invocation_started`, `…_completed` and `…_failed`.

use super::payload::{Members, text_content, text_of};
use serde_json::{Map, Value};

/// The call of a tool, as a worker reports it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Invocation {
    /// What the worker says about it.
    pub text: Option<String>,
    /// The events of one call have the same.
    pub tool_call_id: Option<String>,
    /// As the worker names it.
    pub tool_name: Option<String>,
    /// Arguments of the call.
    pub input: Option<Value>,
}

impl Invocation {
    pub(super) fn read(content: &str, metadata: &str) -> Self {
        let members = Members::read(metadata);
        Self {
            text: text_of(content),
            tool_call_id: members.text(&["toolCallId", "invocationId", "tool_call_id"]),
            tool_name: members.text(&["toolName", "tool", "tool_name"]),
            input: members.value("input").cloned(),
        }
    }

    pub(super) fn content(&self) -> String {
        text_content(self.text.as_deref())
    }

    pub(super) fn metadata(&self) -> String {
        let Self { tool_call_id, tool_name, input, .. } = self;
        let texts = [("toolCallId", tool_call_id), ("toolName", tool_name)];
        let texts = texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text.clone()?.into())));
        let input = input.clone().map(|input| ("input".to_owned(), input));
        Value::Object(texts.chain(input).collect::<Map<_, _>>()).to_string()
    }
}
